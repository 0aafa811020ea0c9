/** Answers of the wire format that prove nothing about what was booked; and the same answers in other words. */
import type { Asked, Choices, Dice, Plan } from './contrary-plan.js'
import {
  type ContrarySale,
  createdAnswer,
  errorAnswer,
  operationAnswer,
  Wire,
  type WireAnswer,
  type WireRecord
} from './contrary-wire.js'

const STATUSES: Choices<number> = [
  ...([200, 201, 202, 204, 301, 302, 304, 400, 401, 403, 404, 405, 408, 409, 410, 418, 422, 429] as const),
  ...([451, 500, 501, 502, 503, 504, 520] as const)
]
const BODIES: Choices<string> = [
  '',
  'null',
  '{}',
  '[]',
  '"ok"',
  '<html><body>Gateway</body></html>',
  '{"Message":"An error has occurred."}',
  '[{"Code":0,"Message":"Internal error"}]',
  '[{"Code":98765,"Message":"?"}]',
  '[{"Code":308,"Message":"Transaction not available to capture"}]',
  '[{"Message":"no code"}]',
  '{"Status":2,"ReturnCo'
]
/** A gateway says that there is nothing here, and the acquirer behind it has booked. */
const NOTHING_HERE: Choices<readonly [number, string]> = [
  [404, ''],
  [404, '<html>Not found</html>'],
  [400, ''],
  [400, '[{"Code":98765,"Message":"?"}]'],
  [405, ''],
  [405, '{"Message":"The requested resource does not support http method."}']
]
/** In progress, timed out, wrong state, or in no list. */
const UNSURE_CODES: Readonly<Record<'capture' | 'void', Choices<string>>> = {
  capture: ['841', '999', 'BP 902', '7777', ''],
  void: ['5', '10', '223', '476', '475', '98', '504', '97', '99', '17', '41', '42', '130', '9016', '7777', '']
}
const UNSURE_STATUSES: Choices<number> = [Wire.unfinished, 12, 14, 15, 20, 99]

export function nothingHere({ dice }: Asked): () => WireAnswer {
  const [status, body] = dice.pick(NOTHING_HERE)
  return () => ({ status, body, isLost: false })
}

export function anyAnswer(dice: Dice): WireAnswer {
  return { status: dice.pick(STATUSES), body: dice.pick(BODIES), isLost: false }
}

/** Books as asked or nothing, and says neither. */
export function sayNothing(asked: Asked): Partial<Plan> {
  const { verb, dice } = asked
  if (dice.chance(0.4)) return {}
  const booked = dice.chance(0.5) ? { cents: 0, ...(verb === 'sale' ? { unapprovedStatus: null } : {}) } : {}
  return { ...booked, answer: sale => (dice.chance(0.5) ? anyAnswer(dice) : unsure(sale, asked)) }
}

function unsure(sale: ContrarySale, { verb, dice }: Asked): WireAnswer {
  if (verb !== 'sale') {
    const status = dice.pick([sale.status, Wire.authorised, Wire.captured, Wire.voided])
    return operationAnswer({ ...sale, status }, dice.pick(UNSURE_CODES[verb]))
  }
  return dice.chance(0.3)
    ? createdAnswer({ ...sale, status: Wire.denied }, dice.pick(['BP 900', 'BP901']))
    : createdAnswer({ ...sale, status: dice.pick(UNSURE_STATUSES) }, dice.pick(['99', '4', '']))
}

/** Refuses in words that stand in no list of final refusals: the record goes on showing the old state. */
export function wordlessRefusal({ verb, dice }: Asked): Partial<Plan> {
  const refuse = (sale: ContrarySale): WireAnswer =>
    verb === 'capture'
      ? dice.pick([
          errorAnswer(400, 308, 'Transaction not available to capture'),
          operationAnswer(sale, '999'),
          operationAnswer(sale, '841')
        ])
      : dice.pick([
          operationAnswer(sale, '6'),
          operationAnswer(sale, '999'),
          errorAnswer(400, 309, 'Transaction not available to void'),
          errorAnswer(400, 312, 'Transaction not available to refund')
        ])
  return { cents: 0, answer: refuse }
}

/** The same answer with numbers as texts, without fields that may be missing, and with one that is in no document. */
export function inOtherWords(honest: WireAnswer): WireAnswer {
  return withPayment(honest, writtenOtherwise)
}

export function writtenOtherwise(fields: WireRecord['Payment']): WireRecord['Payment'] {
  const { Tid: _tid, Links: _links, ...kept } = fields
  const asTexts = Object.entries(kept).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value])
  return { ...Object.fromEntries(asTexts), NewField: { Nested: [1] } }
}

/** The same answer to a query with ids of sales in capitals; a list has each row in both ways. */
export function inCapitals(honest: WireAnswer): WireAnswer {
  const body = bodyOf(honest)
  if (typeof body !== 'object' || body === null) return honest
  const raised = JSON.parse(
    JSON.stringify(body).replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, id => id.toUpperCase())
  )
  const twice = 'Payments' in body ? { ...body, Payments: [body.Payments, raised.Payments].flat() } : raised
  return { ...honest, body: JSON.stringify(twice) }
}

/**
 * The same answer without one of its fields. Not without an amount that was voided: in an account that shows it above zero only,
 * the record would say that nothing was voided. An account that never shows it is a kind of its own.
 */
export function withoutOne(honest: WireAnswer, dice: Dice): WireAnswer {
  return withPayment(honest, fields => {
    const left = dice.between(0, Object.keys(fields).length - 1)
    const isKept = ([name, value]: [string, unknown], index: number): boolean =>
      index !== left || (name === 'VoidedAmount' && value !== 0)
    return Object.fromEntries(Object.entries(fields).filter(isKept))
  })
}

/** The same answer with other figures or names. */
export function withOthers(honest: WireAnswer, others: object): WireAnswer {
  return withPayment(honest, fields => ({ ...fields, ...others }))
}

const ABOUT_MONEY = ['Status', 'Amount', 'CapturedAmount', 'Currency']

/** The answer is the honest one without a field, and that is about money. */
export function isLeftOut(honest: WireAnswer, answer: WireAnswer): boolean {
  const [whole, left] = [fieldsOf(honest), fieldsOf(answer)]
  const missing = Object.keys(whole).filter(name => !(name in left))
  return missing.length === 1 && answer.status === honest.status && missing.some(name => ABOUT_MONEY.includes(name))
}

function fieldsOf(answer: WireAnswer): Record<string, unknown> {
  const body = bodyOf(answer)
  if (typeof body !== 'object' || body === null) return {}
  return { ...('Payment' in body ? (body.Payment as object) : body) }
}

function withPayment(honest: WireAnswer, change: (fields: WireRecord['Payment']) => WireRecord['Payment']): WireAnswer {
  const body = bodyOf(honest)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return honest
  const changed =
    'Payment' in body ? { ...body, Payment: change(body.Payment as WireRecord['Payment']) } : change({ ...body })
  return { ...honest, body: JSON.stringify(changed) }
}

/** Null: the answer is none of the acquirer's own; another kind has made it. */
function bodyOf({ body }: WireAnswer): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
