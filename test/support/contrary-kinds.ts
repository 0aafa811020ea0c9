/**
 * The ways in which an acquirer is contrary, each seen at a real one: what it books of a call, what it answers, and what
 * its record shows then. Pure; for contrary-acquirer.ts.
 */
import {
  type Choices,
  type ContrarySale,
  createdAnswer,
  errorAnswer,
  inOtherWords,
  operationAnswer,
  otherwiseWritten,
  VAGUE,
  VAGUE_4XX,
  Wire,
  type WireAnswer,
  type WireRecord
} from './contrary-wire.js'

export type Verb = 'sale' | 'capture' | 'void'

/** What becomes of one call. */
export interface Plan {
  /** What is booked; 0: nothing. */
  readonly cents: number
  /** A sale of which nothing is approved is known all the same, in this status; null: it is not known. */
  readonly unapprovedStatus: number | null
  /** Approved in the end, all that was asked, so much later. */
  readonly finallyMs: number | null
  readonly isTwice: boolean
  /** Whether the sale is captured at once; null: as asked. */
  readonly isCharged: boolean | null
  readonly currency: string
  /** How this is other than what was asked; null: it is not. */
  readonly deviation: string | null
  /** Whether the answer says so. */
  readonly isTold: boolean
  readonly isLost: boolean
  /** Instead of the honest answer. */
  readonly answer: ((sale: ContrarySale, honest: WireAnswer) => WireAnswer) | null
  /** For so long queries show the sale as it was before. */
  readonly behindMs: number
  /** Notifications, so much later each. */
  readonly notifiesMs: readonly number[]
}

export interface Asked {
  readonly verb: Verb
  readonly sale: ContrarySale
  /** What an honest acquirer would book. */
  readonly cents: number
  readonly askedCents: number
  readonly dice: Dice
}

export interface Dice {
  chance(probability: number): boolean
  pick<T>(choices: Choices<T>): T
  between(min: number, max: number): number
}

type Behaviour = {
  readonly [verb in Verb]?: (asked: Asked) => Partial<Plan>
} & { readonly record?: (sale: ContrarySale, shown: WireRecord['Payment']) => WireRecord['Payment'] | null }

const vague = ({ dice }: Asked, from = VAGUE): (() => WireAnswer) => {
  const [status, body] = dice.pick(from)
  return () => ({ status, body, isLost: false })
}
const isPart = ({ sale, askedCents }: Asked): boolean => askedCents < leftOf(sale)
const leftOf = ({ status, amountCents, capturedCents, voidedCents }: ContrarySale): number =>
  (status === Wire.captured ? capturedCents : amountCents) - voidedCents
/** The answer is lost, or the network notifies of what it did: both lead to a look at the record. */
const lookedAt = ({ dice }: Asked): Partial<Plan> =>
  dice.chance(0.6) ? { isLost: true } : { notifiesMs: [dice.between(200, 5_000)] }

const as = (sale: ContrarySale, status: number): ContrarySale => ({ ...sale, status })

/** Refuses in words that stand in no list of final refusals: the record goes on showing the old state. */
const wordlessRefusal = ({ verb, dice }: Asked): Partial<Plan> => ({
  cents: 0,
  answer: sale =>
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
})

const behaviours = {
  'loses answers': {
    sale: ({ dice }) => ({ isLost: dice.chance(0.5) }),
    capture: ({ dice }) => ({ isLost: dice.chance(0.5) }),
    void: ({ dice }) => ({ isLost: dice.chance(0.5) })
  },
  'refuses captures in no known words': { capture: wordlessRefusal },
  'refuses voids in no known words': { void: wordlessRefusal },
  'never shows what is voided': {
    void: lookedAt,
    record: (_, { VoidedAmount: _voided, ...shown }) => shown
  },
  'shows a refund of nothing': {
    void: lookedAt,
    record: ({ voidedCents }, shown) =>
      voidedCents === 0 ? null : { ...shown, Status: Wire.refunded, VoidedAmount: 0 }
  },
  'voids all for a part': {
    void: asked =>
      isPart(asked) && asked.cents > 0
        ? { cents: leftOf(asked.sale), deviation: 'voided all, a part was asked', isLost: asked.dice.chance(0.2) }
        : {}
  },
  'approves late what it declined': {
    sale: ({ dice }) => {
      const finallyMs = dice.between(1_000, 20_000)
      return {
        cents: 0,
        unapprovedStatus: Wire.denied,
        finallyMs,
        behindMs: 3_000,
        notifiesMs: [finallyMs + dice.between(0, 500)],
        deviation: 'approved after it was declined',
        isTold: false
      }
    }
  },
  'books and answers 4xx': {
    sale: asked => (asked.dice.chance(0.5) ? { answer: vague(asked, VAGUE_4XX) } : {}),
    capture: asked => (asked.dice.chance(0.5) ? { answer: vague(asked, VAGUE_4XX) } : {}),
    void: asked => (asked.dice.chance(0.5) ? { answer: vague(asked, VAGUE_4XX) } : {})
  },
  'captures more than a part': {
    capture: asked =>
      isPart(asked) && asked.cents > 0
        ? { cents: asked.sale.amountCents, deviation: 'captured more than asked', isLost: asked.dice.chance(0.2) }
        : {}
  },
  'sells twice, and its record lags': {
    sale: ({ dice }) => ({ isTwice: true, isLost: dice.chance(0.3), notifiesMs: [dice.between(500, 8_000)] }),
    void: ({ dice }) => ({ behindMs: dice.between(2_000, 25_000) })
  },
  'charges where a hold was asked': {
    sale: ({ sale, dice }) =>
      sale.isCaptureAsked ? {} : { isCharged: true, deviation: 'charged, a hold was asked', isLost: dice.chance(0.2) }
  },
  'takes another currency': {
    sale: ({ dice }) => ({ currency: 'USD', deviation: 'in another currency', isLost: dice.chance(0.3) })
  },
  'approves a part': {
    sale: ({ cents, dice }) => ({
      cents: Math.floor(cents / 2),
      deviation: 'a part was approved',
      isLost: dice.chance(0.3)
    })
  },
  'names another sale in its answer': {
    sale: ({ sale, dice }) => ({
      deviation: 'another sale in the record than in the answer',
      isTold: false,
      answer: (booked, honest) => ({
        ...honest,
        body: honest.body.replaceAll(booked.saleId, `ffffffff${sale.saleId.slice(8)}`)
      }),
      notifiesMs: dice.chance(0.7) ? [dice.between(500, 8_000)] : []
    })
  },
  'shows a capture of nothing': {
    sale: lookedAt,
    capture: lookedAt,
    record: ({ status }, shown) => (status === Wire.captured ? { ...shown, CapturedAmount: 0 } : null)
  },
  'shows the released rest as voided': {
    capture: lookedAt,
    record: ({ capturedCents, amountCents, voidedCents }, shown) =>
      capturedCents > 0 && capturedCents < amountCents
        ? { ...shown, VoidedAmount: amountCents - capturedCents + voidedCents }
        : null
  },
  'books or not, and answers anything': {
    sale: asked => anything(asked, { unapprovedStatus: null }),
    capture: anything,
    void: anything
  },
  'contradicts itself': {
    sale: ({ dice }) => (dice.chance(0.5) ? { answer: sale => createdAnswer(as(sale, Wire.denied), '6') } : {}),
    capture: ({ cents, dice }) => {
      if (dice.chance(0.5)) return {}
      const isBooked = cents > 0 && dice.chance(0.5)
      return { cents: isBooked ? cents : 0, answer: sale => operationAnswer(sale, isBooked ? '842' : '6') }
    },
    void: ({ cents, dice }) => {
      if (dice.chance(0.5)) return {}
      const isBooked = cents > 0 && dice.chance(0.5)
      const answer = (sale: ContrarySale): WireAnswer =>
        isBooked ? operationAnswer(as(sale, Wire.voided), '100') : operationAnswer(as(sale, Wire.authorised), '9')
      return { cents: isBooked ? cents : 0, answer }
    }
  },
  'decides later': {
    sale: ({ cents, dice }) => ({
      cents: 0,
      unapprovedStatus: Wire.unfinished,
      finallyMs: cents > 0 && dice.chance(0.7) ? dice.between(500, 25_000) : null,
      answer: sale => createdAnswer(sale, '99')
    })
  },
  'has a record that lags': {
    sale: ({ dice }) => ({ behindMs: dice.between(1_000, 25_000), isLost: dice.chance(0.3) }),
    capture: asked => ({ behindMs: asked.dice.between(1_000, 25_000), ...lookedAt(asked) }),
    void: asked => ({ behindMs: asked.dice.between(1_000, 25_000), ...lookedAt(asked) })
  },
  'refuses, books, and says so later': {
    capture: asked => lies(asked, sale => operationAnswer(as(sale, Wire.authorised), '842')),
    void: asked => lies(asked, sale => operationAnswer(as(sale, Wire.captured), '102'))
  },
  'says done, books nothing, and says so later': {
    capture: asked => (asked.cents > 0 ? denies(asked, sale => operationAnswer(as(sale, Wire.captured), '6')) : {}),
    void: asked =>
      asked.cents > 0
        ? denies(asked, sale => operationAnswer(as(sale, isPart(asked) ? Wire.captured : Wire.voided), '0'))
        : {}
  },
  'notifies early, often and late': {
    sale: ({ dice }) => ({ notifiesMs: [0, 0, 700, dice.between(1_000, 120_000)] }),
    capture: ({ dice }) => ({ notifiesMs: [0, 300, dice.between(1_000, 120_000)] }),
    void: ({ dice }) => ({ notifiesMs: [0, 300, dice.between(1_000, 120_000)] })
  },
  'writes it otherwise': {
    sale: () => ({ answer: (_, honest) => inOtherWords(honest) }),
    capture: () => ({ answer: (_, honest) => inOtherWords(honest) }),
    void: asked => ({ answer: (_, honest) => inOtherWords(honest), ...lookedAt(asked) }),
    record: (_, shown) => otherwiseWritten(shown)
  }
} as const satisfies Readonly<Record<string, Behaviour>>

export type ContraryKind = keyof typeof behaviours

export const contraryKinds = Object.keys(behaviours) as ContraryKind[]

function behaviourOf(kind: string): Behaviour {
  return (behaviours as Readonly<Record<string, Behaviour>>)[kind] ?? {}
}

/** What the kinds of a sale make of a call. */
export function planOf(asked: Asked): Plan {
  const { verb, sale, cents } = asked
  const honest: Plan = {
    cents,
    unapprovedStatus: Wire.denied,
    finallyMs: null,
    isTwice: false,
    isCharged: null,
    currency: 'BRL',
    deviation: null,
    isTold: true,
    isLost: false,
    answer: null,
    behindMs: 0,
    notifiesMs: []
  }
  return Object.assign(honest, ...sale.kinds.map(kind => behaviourOf(kind)[verb]?.(asked)))
}

/** The record as the kinds of the sale show it; null: as it is. */
export function shownBy(sale: ContrarySale, payment: WireRecord['Payment']): WireRecord['Payment'] | null {
  const changes = sale.kinds.map(kind => behaviourOf(kind).record)
  return changes.reduce<WireRecord['Payment'] | null>(
    (shown, change) => change?.(sale, shown ?? payment) ?? shown,
    null
  )
}

function anything(asked: Asked, unbooked: Partial<Plan> = {}): Partial<Plan> {
  const { dice } = asked
  if (dice.chance(0.4)) return {}
  return { ...(dice.chance(0.5) ? { cents: 0, ...unbooked } : {}), answer: vague(asked) }
}

/** Books all the same, and notifies of it. */
function lies({ cents, dice }: Asked, answer: Plan['answer']): Partial<Plan> {
  if (cents === 0 || dice.chance(0.5)) return {}
  return { answer, notifiesMs: [dice.between(500, 20_000)], deviation: 'refused and booked', isTold: false }
}

/** Books nothing, and notifies of it. */
function denies({ dice }: Asked, answer: Plan['answer']): Partial<Plan> {
  if (dice.chance(0.5)) return {}
  return { cents: 0, answer, notifiesMs: [dice.between(500, 20_000)] }
}
