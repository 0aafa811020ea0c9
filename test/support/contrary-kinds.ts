/**
 * The ways in which an acquirer is contrary, each seen at a real one: what it books of a call, what it answers, and what
 * its record shows then. Pure; for contrary-acquirer.ts.
 */
import { type Asked, type Behaviour, type Dice, isPart, leftOf, lookedAt, type Plan } from './contrary-plan.js'
import {
  anyAnswer,
  inCapitals,
  inOtherWords,
  nothingHere,
  sayNothing,
  withOthers,
  withoutOne,
  wordlessRefusal,
  writtenOtherwise
} from './contrary-vague.js'
import {
  type ContrarySale,
  createdAnswer,
  operationAnswer,
  Wire,
  type WireAnswer,
  type WireRecord
} from './contrary-wire.js'

/** What the acquirer did other than it said: the sale was approved after the answer that declined it. */
export const APPROVED_LATE = 'approved after it was declined'

/** The deviation that concerns the merchant as long as something of the sale is left. */
export const APPROVED_IN_PART = 'a part was approved'

/** The deviation that shows only if the answer to the sale was heard. */
export const NAMED_OTHERWISE = 'another sale in the record than in the answer'

/** The deviation that the next refund may hide, if it never arrives. */
export const REFUNDED_MORE = 'refunded more than asked'

/** The deviation of a lie. */
export const REFUSED_AND_BOOKED = 'refused and booked'

const as = (sale: ContrarySale, status: number): ContrarySale => ({ ...sale, status })

const behaviours = {
  'loses answers': {
    sale: ({ dice }) => ({ isLost: dice.chance(0.5) }),
    capture: ({ dice }) => ({ isLost: dice.chance(0.5) }),
    void: ({ dice }) => ({ isLost: dice.chance(0.5) })
  },
  'refuses captures in no known words': { capture: wordlessRefusal },
  'refuses voids in no known words': { void: wordlessRefusal },
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
        deviation: APPROVED_LATE,
        isTold: false
      }
    }
  },
  'books and answers 4xx': {
    sale: asked => (asked.dice.chance(0.5) ? { answer: nothingHere(asked) } : {}),
    capture: asked => (asked.dice.chance(0.5) ? { answer: nothingHere(asked) } : {}),
    void: asked => (asked.dice.chance(0.5) ? { answer: nothingHere(asked) } : {})
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
    sale: ({ cents, dice }) =>
      // What another kind approves late, it approves whole.
      cents === 0 ? {} : { cents: Math.floor(cents / 2), deviation: APPROVED_IN_PART, isLost: dice.chance(0.3) }
  },
  'names another sale in its answer': {
    sale: ({ sale, dice }) => ({
      deviation: NAMED_OTHERWISE,
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
    sale: sayNothing,
    capture: sayNothing,
    void: sayNothing
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
  'refuses, books, and shows it late': {
    capture: asked => hides(asked, sale => operationAnswer(as(sale, Wire.authorised), '842')),
    void: asked => hides(asked, sale => operationAnswer(as(sale, Wire.captured), '102'))
  },
  'says done, books nothing, and says so later': {
    sale: asked => (asked.cents > 0 ? denies(asked, approvalOf(asked)) : {}),
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
    record: (_, shown) => writtenOtherwise(shown)
  },
  'answers about another sale': {
    sale: ({ dice }) => {
      if (dice.chance(0.5)) return {}
      const isBooked = dice.chance(0.5)
      const answer = (_: ContrarySale, honest: WireAnswer): WireAnswer => ({
        ...honest,
        body: honest.body.replace(/"MerchantOrderId":"[^"]*"/, '"MerchantOrderId":"SHOP2"')
      })
      return { ...(isBooked ? {} : { cents: 0, unapprovedStatus: null }), answer }
    },
    capture: aboutAnother,
    void: aboutAnother
  },
  'leaves a field out': {
    sale: ({ dice }) => ({ answer: (_, honest) => withoutOne(honest, dice) }),
    capture: ({ dice }) => ({ answer: (_, honest) => withoutOne(honest, dice) }),
    void: asked => ({ answer: (_, honest) => withoutOne(honest, asked.dice), ...lookedAt(asked) }),
    query: (honest, dice) => (dice.chance(0.3) ? withoutOne(honest, dice) : honest)
  },
  'says another amount than it books': {
    sale: ({ cents, dice }) => {
      if (dice.chance(0.5)) return {}
      const others = dice.pick([{ Amount: cents * 2 }, { Amount: 1 }, { CapturedAmount: cents - 1 }])
      return { answer: (_, honest) => withOthers(honest, others) }
    },
    capture: ({ cents, dice }) => ({
      answer: (_, honest) => withOthers(honest, { CapturedAmount: dice.pick([0, 1, cents + 1]) })
    }),
    void: ({ cents, dice }) => ({
      answer: (_, honest) => withOthers(honest, { VoidedAmount: dice.pick([0, 1, cents + 1]) })
    })
  },
  'captures less than asked': {
    capture: ({ cents, dice }) => ({
      cents: Math.floor(cents / 2),
      deviation: 'captured less than asked',
      isLost: dice.chance(0.2)
    })
  },
  'refunds another amount': {
    void: asked => {
      const { sale, cents, dice } = asked
      // Once: what the next ones do other than asked could make up for it.
      if (sale.capturedCents === 0 || sale.voidedCents > 0 || !isPart(asked) || cents === 0) return {}
      const isMore = dice.chance(0.5)
      return {
        cents: isMore ? Math.min(leftOf(sale), cents * 2) : Math.floor(cents / 2),
        deviation: isMore ? REFUNDED_MORE : 'refunded less than asked',
        isTold: false,
        isLost: dice.chance(0.3)
      }
    }
  },
  'answers queries with anything': {
    sale: ({ dice }) => ({ isLost: dice.chance(0.4) }),
    capture: lookedAt,
    void: lookedAt,
    query: (honest, dice) => {
      const answer = anyAnswer(dice)
      // To deny a sale that it has is another thing.
      const isDenial = answer.status === 404 || answer.status === 400
      return isDenial || dice.chance(0.5) ? honest : answer
    }
  },
  'lists a sale twice, in other letters': {
    sale: ({ dice }) => ({ isLost: dice.chance(0.4) }),
    capture: lookedAt,
    void: lookedAt,
    query: (honest, dice) => (dice.chance(0.5) ? inCapitals(honest) : honest)
  },
  // After all that show it.
  'never shows what is voided': {
    void: lookedAt,
    record: (_, { VoidedAmount: _voided, ...shown }) => shown
  },
  // Last, so that no other kind says or changes what it will have decided.
  'books calls later': {
    sale: asked => {
      const { bookedAfterMs: finallyMs, ...silence } = booksLater(asked)
      return finallyMs === undefined || asked.cents === 0
        ? {}
        : { cents: 0, unapprovedStatus: null, finallyMs, ...silence }
    },
    capture: booksLater,
    void: booksLater
  }
} as const satisfies Readonly<Record<string, Behaviour>>

export type ContraryKind = keyof typeof behaviours

export const contraryKinds = Object.keys(behaviours) as ContraryKind[]

function behaviourOf(kind: string): Behaviour {
  return (behaviours as Readonly<Record<string, Behaviour>>)[kind] ?? {}
}

/** In the order of the table, in which a later one has the last word. */
function kindsOf(sale: ContrarySale): ContraryKind[] {
  return contraryKinds.filter(kind => sale.kinds.includes(kind))
}

/** What the kinds of a sale make of a call. */
export function planOf(asked: Asked): Plan {
  const { verb, sale, cents } = asked
  const honest: Plan = {
    cents,
    bookedAfterMs: 0,
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
  const changes = kindsOf(sale).map(kind => behaviourOf(kind)[verb]?.(asked) ?? {})
  const notifiesMs = changes.flatMap(change => change.notifiesMs ?? [])
  // What another kind books instead is no deviation of the first one any more.
  const meant = changes.map(change => ('cents' in change ? { deviation: null, ...change } : change))
  return Object.assign(honest, ...meant, { notifiesMs })
}

/** The answer to a query about the sale, as its kinds give it. */
export function queriedBy(sale: ContrarySale, honest: WireAnswer, dice: Dice): WireAnswer {
  return sale.kinds.reduce((answer, kind) => behaviourOf(kind).query?.(answer, dice) ?? answer, honest)
}

/** The record as the kinds of the sale show it; null: as it is. */
export function shownBy(sale: ContrarySale, payment: WireRecord['Payment']): WireRecord['Payment'] | null {
  const changes = kindsOf(sale).map(kind => behaviourOf(kind).record)
  return changes.reduce<WireRecord['Payment'] | null>(
    (shown, change) => change?.(sale, shown ?? payment) ?? shown,
    null
  )
}

/** Books all the same, and notifies of it. */
function lies({ cents, dice }: Asked, answer: Plan['answer']): Partial<Plan> {
  if (cents === 0 || dice.chance(0.5)) return {}
  return { answer, notifiesMs: [dice.between(500, 20_000)], deviation: REFUSED_AND_BOOKED, isTold: false }
}

/** Books all the same, and shows it only some time later. */
function hides({ cents, dice }: Asked, answer: Plan['answer']): Partial<Plan> {
  if (cents === 0 || dice.chance(0.5)) return {}
  return { answer, behindMs: dice.between(1_000, 25_000), deviation: REFUSED_AND_BOOKED, isTold: false }
}

/** The answer to a sale that would be approved as it was asked. */
function approvalOf({ sale: { isCaptureAsked } }: Asked): Plan['answer'] {
  const status = isCaptureAsked ? Wire.captured : Wire.authorised
  return sale => createdAnswer(as(sale, status))
}

/** Books nothing, and notifies of it. */
function denies({ dice }: Asked, answer: Plan['answer']): Partial<Plan> {
  if (dice.chance(0.5)) return {}
  return { cents: 0, answer, notifiesMs: [dice.between(500, 20_000)] }
}

/** The answer to a call is about another sale, whether this one is booked or not. */
function aboutAnother({ dice, sale }: Asked): Partial<Plan> {
  if (dice.chance(0.5)) return {}
  const answer = (_: ContrarySale, honest: WireAnswer): WireAnswer => ({
    ...honest,
    body: honest.body.replaceAll(sale.saleId, 'deadbeef-0000-4000-8000-00000000dead')
  })
  return { ...(dice.chance(0.5) ? {} : { cents: 0 }), answer }
}

/** The call is on its way inside the acquirer while it, or a gateway, answers something else; it arrives before the horizon. */
function booksLater({ dice }: Asked): Partial<Plan> {
  if (dice.chance(0.4)) return {}
  const status = dice.pick([202, 404, 500, 504])
  const silence = dice.chance(0.5) ? { isLost: true } : { answer: () => ({ status, body: '', isLost: false }) }
  return { bookedAfterMs: dice.between(1_000, 30_000), ...silence }
}
