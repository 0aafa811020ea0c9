/** Sales that are not voided, as the buyer would get the money twice or the network takes no void: what becomes of their payment. */
import { expect } from 'chai'
import { noReferences, type Payment, type PaymentProgress, type Reconciliation } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import type { Effect, FoundEvent, PaymentEvent } from '../../../machines/payment/events.js'
import { queryEvent } from '../../../machines/payment/make-event.js'
import {
  describeRows,
  type EventInput,
  found,
  inDoubt,
  inStatus,
  LATER,
  NOW,
  type Rows
} from '../../support/decisions.js'
import { aDoubt, aPayment, aSale, DAY_MS, policy, references } from '../../support/payments.js'

const DUPLICATE = 'sale-2'
const beside = { duplicates: [{ saleId: DUPLICATE, isChargedBack: false }] }
const chargedBack = { duplicates: [{ saleId: DUPLICATE, isChargedBack: true }] }
const doubt = (changes: Partial<Reconciliation>) => aDoubt(NOW - 10_000, { nextAtMs: NOW, ...changes })
const voided = (times: number, saleId: string | null = DUPLICATE): Partial<PaymentProgress> => ({
  voids: [{ times, lastMs: NOW - 9 * DAY_MS, saleId }]
})

/** Takes the event, and the same answer as long as it is asked for. */
function settled(given: ReturnType<typeof inStatus>, event: EventInput) {
  const { mode, progress } = given
  let payment: Payment = aPayment({ terms: { captureMode: mode }, progress })
  const effects: Effect[] = []
  for (let looks = 0; looks < 5; looks++) {
    const decision = decide(payment, { nowMs: NOW, ...event } as PaymentEvent, policy)
    if (decision.kind === 'refused') throw new Error(decision.code)
    payment = decision.payment
    if (decision.effect !== null) effects.push(decision.effect)
    if (decision.effect?.kind !== 'query') return { ...payment, effects }
  }
  throw new Error('asks for ever')
}

describe('a duplicate that is not voided', () => {
  const kinds = [
    ['six voids of it had no effect', voided(6), beside],
    ['the issuer gave its money back', {}, chargedBack]
  ] as const
  for (const [why, progress, record] of kinds) {
    describe(`because ${why}`, () => {
      it('is listed, and does not hide the outcome of an authorisation', () => {
        const after = settled(inStatus('unknown', progress), { ...found('captured', {}, record), nowMs: LATER })
        expect(after.progress).to.include({ status: 'captured', reviewReason: 'duplicate_sale' })
        expect(after.effects).to.deep.equal([{ kind: 'query' }])
      })

      it('does not hide that a refund is booked', () => {
        const refunding = inStatus('refunding', { ...inDoubt('refund', 300), ...progress })
        const after = settled(refunding, found('captured', { voidedCents: 300 }, record))
        expect(after.progress).to.include({ status: 'partially_refunded', refundedCents: 300 })
      })

      it('does not hide a chargeback of the sale of the payment', () => {
        const after = settled(inStatus('captured', progress), found('captured', { isChargedBack: true }, record))
        expect(after.progress).to.include({ status: 'charged_back', reviewReason: 'duplicate_sale' })
      })

      it('does not keep a hold that is due from being voided', () => {
        const due = inStatus('pre_authorized', { mode: 'manual', expiresAtMs: NOW - 1, ...progress })
        const held = found('authorised', { capturedCents: 0 }, record)
        const expired = settled(due, held)
        expect(expired.progress).to.include({ status: 'expired', phase: 'releasing' })
        // What was found a moment ago may be a capture that the record does not show yet.
        const after = settled({ mode: 'manual', progress: expired.progress }, { ...held, nowMs: LATER })
        expect(after.effects).to.deep.equal([{ kind: 'void', saleId: references.saleId }])
      })
    })
  }

  describeRows('and its payment', {
    'is listed once more after an operator has looked': [
      inStatus('captured', { ...voided(6), reviewReason: null }),
      found('captured', {}, beside),
      { status: 'captured', effect: 'query', reviewReason: 'duplicate_sale' }
    ],
    'takes over a chargeback of its own sale while the next void of the duplicate is not due': [
      inStatus('captured', { voids: [{ times: 1, lastMs: NOW, saleId: DUPLICATE }] }),
      found('captured', { isChargedBack: true }, beside),
      { status: 'charged_back' }
    ],
    'goes on looking while the next void of the duplicate is not due': [
      inStatus('captured', {
        voids: [{ times: 1, lastMs: NOW, saleId: DUPLICATE }],
        verification: { sinceMs: NOW - DAY_MS, attempts: 3, nextAtMs: NOW, reported: 'change' }
      }),
      found('captured', {}, beside),
      { status: 'captured', effect: null, reported: 'change' }
    ]
  })

  describeRows('of several duplicates', {
    'does not keep another one from being voided': [
      inStatus('captured', voided(6)),
      found('captured', {}, { duplicates: [...beside.duplicates, { saleId: 'sale-3', isChargedBack: false }] }),
      { effect: 'void' }
    ],
    'is not voided again after another one was': [
      inStatus('captured', {
        reviewReason: 'duplicate_sale',
        voids: [
          { times: 1, lastMs: NOW - DAY_MS, saleId: 'sale-3' },
          { times: 6, lastMs: NOW - DAY_MS, saleId: DUPLICATE }
        ]
      }),
      found('captured', {}, beside),
      { effect: null }
    ]
  })

  it('is each live sale beside that of the payment', () => {
    const sale = (saleId: string, more: object = {}) => aSale({ references: { ...references, saleId }, ...more })
    const sales = [sale('own'), sale('disputed', { isChargedBack: true }), sale('gone', { status: 'voided' })] as const
    const { duplicates, isOtherChargedBack } = queryEvent({ kind: 'found', sales }, 'own', NOW) as FoundEvent
    expect(isOtherChargedBack).to.equal(true)
    expect(duplicates).to.deep.equal([{ saleId: 'disputed', isChargedBack: true }])
  })
})

const tables: Readonly<Record<string, Rows>> = {
  'the voids of one sale': {
    'do not count for another one: a duplicate': [
      inStatus('captured', voided(6, references.saleId)),
      found('captured', {}, beside),
      { effect: 'void' }
    ],
    'do not count for another one: the hold of the payment': [
      inStatus('expired', {
        ...voided(6),
        reconciliation: doubt({ tries: 6 })
      }),
      { ...found('authorised', { capturedCents: 0 }), nowMs: LATER },
      { status: 'expired', effect: 'void' }
    ],
    'count for all sales where an earlier version counted them together': [
      inStatus('captured', { ...voided(6, null), reviewReason: 'figures_differ' }),
      found('captured', {}, beside),
      { effect: null }
    ],
    'are over when the network says that it is too late': [
      inStatus('captured', {
        voids: [{ times: 1, lastMs: NOW, saleId: DUPLICATE }],
        reviewReason: 'duplicate_sale'
      }),
      { type: 'REJECTED', code: '101', isTooLate: true },
      { effect: null, isChanged: true }
    ]
  },
  'another sale of a failed payment than the one that it knows': {
    'is the one that is voided': [
      inStatus('failed', { references }),
      found('captured', { references: { ...references, saleId: 'sale-3' } }, { isOther: true }),
      { status: 'failed', effect: 'void', voided: 'sale-3' }
    ]
  },
  'a hold that is due while the next void of a duplicate is not': {
    'is released as soon as that is clear, and not looked at again and again until then': [
      inStatus('pre_authorized', {
        mode: 'manual',
        expiresAtMs: NOW - 1,
        voids: [{ times: 1, lastMs: NOW, saleId: DUPLICATE }]
      }),
      found('authorised', { capturedCents: 0 }, beside),
      { status: 'expired', phase: 'releasing', effect: null, wake: 2_000 }
    ]
  },
  'a sale with a chargeback': {
    'is not voided for its payment that failed, but listed': [
      inStatus('failed', { references: noReferences }),
      found('captured', { isChargedBack: true }),
      { status: 'failed', effect: null, reviewReason: 'sale_after_failure' }
    ],
    'does not keep another late sale of the failed payment from being voided': [
      inStatus('failed', { references: noReferences }),
      found('captured', { isChargedBack: true }, beside),
      { status: 'failed', effect: 'void', reviewReason: 'sale_after_failure' }
    ],
    'gets no second try of a refund in doubt, which ends at the horizon': [
      inStatus('refunding', inDoubt('refund', 300)),
      { ...found('captured', { isChargedBack: true }), nowMs: LATER },
      { status: 'charged_back', effect: null, result: 'failed', error: 'provider_rejected' }
    ],
    'gets none before the horizon either': [
      inStatus('refunding', inDoubt('refund', 300)),
      found('captured', { isChargedBack: true }),
      { status: 'refunding', effect: null }
    ],
    'ends a refund that its record proves: no further one': [
      inStatus('refunding', inDoubt('refund', 300)),
      found('captured', { isChargedBack: true, voidedCents: 300 }),
      { status: 'charged_back', result: 'succeeded', refunded: 300, effect: null }
    ],
    'is looked at again at once when it proves an authorisation': [
      'unknown',
      found('captured', { isChargedBack: true }),
      { status: 'captured', result: 'succeeded', reported: 'change', wake: 0 }
    ],
    'is looked at again at once when it proves a capture': [
      inStatus('capturing', { mode: 'manual', ...inDoubt('capture', 600) }),
      found('captured', { isChargedBack: true, capturedCents: 600 }),
      { status: 'captured', result: 'succeeded', reported: 'change', wake: 0 }
    ],
    'takes no refund any more after an operator has seen one booked': [
      inStatus('refunding', {
        ...inDoubt('refund', 300),
        reconciliation: doubt({ concluded: 'booked' })
      }),
      { ...found('captured', { isChargedBack: true }), nowMs: LATER },
      { status: 'charged_back', result: 'succeeded', refunded: 300 }
    ],
    'is charged back, also when its voided amount says nothing': [
      inStatus('captured', { capturedCents: 400 }),
      found('captured', { isChargedBack: true, capturedCents: 400, voidedCents: 1_400 }),
      { status: 'charged_back' }
    ]
  },
  'a live sale that an operator has seen not booked': {
    'is voided when its payment has failed: the record decides': [
      inStatus('failed', {
        phase: 'watched',
        references: noReferences,
        reconciliation: doubt({ concluded: 'not_booked' })
      }),
      { ...found('captured'), nowMs: LATER },
      { status: 'failed', effect: 'void', reviewReason: 'sale_after_failure' }
    ],
    'is not passed over while the next void of its duplicate is not due': [
      inStatus('unknown', {
        voids: [{ times: 1, lastMs: LATER, saleId: DUPLICATE }],
        reconciliation: doubt({ concluded: 'not_booked' })
      }),
      { ...found('captured', {}, beside), nowMs: LATER },
      { status: 'unknown', effect: null }
    ],
    'is not voided before the horizon': [
      inStatus('unknown', {
        reconciliation: doubt({ concluded: 'not_booked' })
      }),
      found('captured', {}, beside),
      { status: 'unknown', effect: null }
    ],
    'is voided first when it is a duplicate': [
      inStatus('unknown', {
        reconciliation: doubt({ concluded: 'not_booked' })
      }),
      { ...found('captured', {}, beside), nowMs: LATER },
      { status: 'unknown', effect: 'void', reviewReason: 'duplicate_sale' }
    ]
  }
}

for (const [title, rows] of Object.entries(tables)) describeRows(title, rows)
