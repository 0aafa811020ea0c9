/** Records that contradict themselves or the payment decide nothing, and are never passed over. */
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
import { policy, references } from '../../support/payments.js'

const reported = (kind: 'change' | 'denied_refund' | 'own' = 'change') => ({
  verification: { sinceMs: NOW - 1_000, attempts: 0, nextAtMs: NOW, reported: kind }
})
/** An operation ended a minute ago: its first look. */
const own = (sinceMs = NOW - 60_000) => ({
  verification: { sinceMs, attempts: 1, nextAtMs: NOW, reported: 'own' as const }
})
const refused: EventInput = { type: 'REJECTED', code: '102' }
const refundInDoubt = (more: object = {}) => inStatus('refunding', { ...inDoubt('refund', 300), ...more })
const listed = { reviewReason: 'figures_differ' } as const
const stays = { phase: 'reconciling', result: null, effect: null, ...listed } as const
const otherCurrency: EventInput = found('captured', { currency: 'USD' })
const otherSale: EventInput = found('captured', {}, { isOther: true })
const nothingCaptured: EventInput = found('captured', { capturedCents: 0 })
const closedWithoutRefund: EventInput = found('voided', { capturedCents: 1_000, voidedCents: 0 })

const tables: Readonly<Record<string, Rows>> = {
  'an authorisation in doubt': {
    'is not taken from a record in another currency': ['unknown', otherCurrency, { status: 'unknown', ...listed }],
    'is not taken from another sale': [
      inStatus('unknown', { references }),
      otherSale,
      { status: 'unknown', ...listed }
    ],
    'is not captured with an amount of 0': ['unknown', nothingCaptured, { status: 'unknown', ...listed }],
    'is booked when an operator has seen the sale that the record names': [
      inStatus('unknown', { references, ...listed }),
      { type: 'OPERATION_CONCLUDED', isBooked: true, nowMs: LATER },
      { status: 'captured', captured: 1_000, result: 'succeeded', reviewReason: null }
    ],
    'is held when an operator has seen the pre-authorisation': [
      inStatus('unknown', { references, mode: 'manual', ...listed }),
      { type: 'OPERATION_CONCLUDED', isBooked: true, nowMs: LATER },
      { status: 'pre_authorized', result: 'succeeded', reviewReason: null }
    ]
  },
  'a pre-authorisation': {
    'that was charged all the same is captured, and listed': [
      inStatus('pending', { mode: 'manual' }),
      { type: 'APPROVED', isCaptured: true, references },
      { status: 'captured', captured: 1_000, ...listed }
    ],
    'that the record shows as charged is captured, and listed': [
      inStatus('unknown', { mode: 'manual' }),
      found('captured'),
      { status: 'captured', captured: 1_000, ...listed }
    ]
  },
  'a captured payment': {
    'is listed for a record in another currency': [
      inStatus('captured', reported()),
      otherCurrency,
      { status: 'captured', ...listed }
    ],
    'is listed for another sale': [inStatus('captured', reported()), otherSale, { status: 'captured', ...listed }],
    'keeps its refunds when the record closes the sale without them': [
      inStatus('partially_refunded', reported('denied_refund')),
      { ...closedWithoutRefund, nowMs: LATER },
      { status: 'partially_refunded', refunded: 300, ...listed }
    ],
    'keeps its refunds when a record that reports nothing shows less': [
      inStatus('partially_refunded', reported('own')),
      { ...found('captured', { voidedCents: 0 }), nowMs: LATER },
      { status: 'partially_refunded', refunded: 300, ...listed }
    ],
    'takes the larger amount that the network captured, and is listed': [
      inStatus('captured', { capturedCents: 600, ...reported('own') }),
      found('captured', { capturedCents: 1_000 }),
      { captured: 1_000, ...listed }
    ],
    'is listed when the released rest counts as voided, and stays refundable': [
      inStatus('captured', { capturedCents: 600, ...reported('own') }),
      found('captured', { capturedCents: 600, voidedCents: 400 }),
      { captured: 600, refunded: 0, ...listed }
    ],
    'is compared at the horizon, too, when the first record agrees': [
      inStatus('captured', { capturedCents: 600, ...own() }),
      found('captured', { capturedCents: 600 }),
      { wake: 540_000, reviewReason: null }
    ],
    'is confirmed by a record that agrees at the horizon': [
      inStatus('captured', { capturedCents: 600, ...own(NOW - policy.notFoundHorizonMs) }),
      found('captured', { capturedCents: 600 }),
      { wake: null, reviewReason: null }
    ],
    'is listed at the horizon for a refund that was refused and booked': [
      inStatus('captured', own(NOW - policy.notFoundHorizonMs)),
      found('captured', { voidedCents: 300 }),
      { refunded: 0, ...listed }
    ],
    'is compared again after each refusal, also while an earlier look is due later': [
      inStatus('refunding', { verification: { ...own(NOW - 500_000).verification, nextAtMs: NOW + 100_000 } }),
      refused,
      { status: 'captured', result: 'failed', wake: 60_000 }
    ],
    'keeps looking for a reported chargeback when a refund is refused': [
      inStatus('refunding', reported('denied_refund')),
      refused,
      { status: 'captured', wake: 0 }
    ]
  },
  'a refund in doubt': {
    'is not taken from a record in another currency': [refundInDoubt(), otherCurrency, stays],
    'is not sent again without knowing what was voided': [
      refundInDoubt(),
      { ...found('captured', { voidedCents: null }), nowMs: LATER },
      stays
    ],
    'waits for a record that does not say what was voided': [
      refundInDoubt(),
      found('captured', { voidedCents: null }),
      { phase: 'reconciling', result: null, effect: null, reviewReason: null }
    ],
    'is not taken from a sale that is closed with nothing voided': [refundInDoubt(), closedWithoutRefund, stays],
    'is booked beside a released rest that counts as voided': [
      refundInDoubt({ capturedCents: 600 }),
      found('captured', { capturedCents: 600, voidedCents: 700 }),
      { status: 'partially_refunded', refunded: 300, result: 'succeeded' }
    ],
    'is not booked by a released rest that counts as voided': [
      refundInDoubt({ capturedCents: 600 }),
      found('captured', { capturedCents: 600, voidedCents: 400 }),
      { phase: 'reconciling', result: null, refunded: 0 }
    ],
    'of the amount of the released rest is not decided by a record that may count it': [
      refundInDoubt({ capturedCents: 700 }),
      found('captured', { capturedCents: 700, voidedCents: 300 }),
      stays
    ]
  },
  'a record that counts the released rest of a hold as voided': {
    'proves the capture of a part, and no refund; it is listed, since others may have refunded as much': [
      inStatus('capturing', { mode: 'manual', ...inDoubt('capture', 400) }),
      found('captured', { capturedCents: 400, voidedCents: 600 }),
      { status: 'captured', captured: 400, refundable: 400, ...listed }
    ],
    'shows what others captured, and no refund': [
      inStatus('pre_authorized', { mode: 'manual', ...reported('change') }),
      found('captured', { capturedCents: 400, voidedCents: 600 }),
      { status: 'captured', captured: 400, refundable: 400, ...listed }
    ],
    'shows what others refunded beside it, and no refund of ours': [
      refundInDoubt({ capturedCents: 400 }),
      found('captured', { capturedCents: 400, voidedCents: 650 }),
      stays
    ],
    'shows a refund by others': [
      inStatus('captured', { capturedCents: 400, ...reported('own') }),
      found('captured', { capturedCents: 400, voidedCents: 650 }),
      { status: 'captured', captured: 400, refundable: 350, ...listed }
    ],
    'proves the last refund when it is closed': [
      refundInDoubt({ capturedCents: 300 }),
      found('voided', { capturedCents: 300, voidedCents: 1_000 }),
      { status: 'refunded', refunded: 300, refundable: 0 }
    ],
    'proves it, also when it leaves out what was captured': [
      refundInDoubt({ capturedCents: 300 }),
      found('voided', { capturedCents: 0, voidedCents: 1_000 }),
      { status: 'refunded', refunded: 300, refundable: 0 }
    ],
    'proves the last refund of an account that does not count it, too': [
      refundInDoubt({ ...inDoubt('refund', 500), capturedCents: 500 }),
      found('voided', { capturedCents: 500, voidedCents: 500 }),
      { status: 'refunded', refunded: 500, refundable: 0 }
    ],
    'decides nothing about a refund when it also shows the captured amount less what was voided': [
      refundInDoubt({ ...inDoubt('refund', 300), capturedCents: 700 }),
      { ...found('captured', { capturedCents: 400, voidedCents: 600 }), nowMs: LATER },
      stays
    ],
    'can still not show more given back than was captured': [
      inStatus('captured', { capturedCents: 400, ...reported('own') }),
      found('captured', { capturedCents: 400, voidedCents: 1_100 }),
      { status: 'captured', captured: 400, refundable: 400, ...listed }
    ]
  },
  'an approval': {
    'of a capture that states another amount is compared with the record': [
      'capturing',
      {
        type: 'APPROVED',
        isCaptured: true,
        references,
        stated: { capturedCents: 1_000, voidedCents: null, isClosed: false }
      },
      { phase: 'reconciling', effect: 'query', result: null }
    ],
    'of a refund in part that closes the sale is compared with the record': [
      'refunding',
      {
        type: 'APPROVED',
        isCaptured: false,
        references,
        stated: { capturedCents: null, voidedCents: null, isClosed: true }
      },
      { phase: 'reconciling', effect: 'query', result: null }
    ],
    'of a refund that states another sum is compared with the record': [
      'refunding',
      {
        type: 'APPROVED',
        isCaptured: true,
        references,
        stated: { capturedCents: null, voidedCents: 900, isClosed: false }
      },
      { phase: 'reconciling', effect: 'query', result: null }
    ],
    'of a refund in part is confirmed by the record later': [
      'refunding',
      {
        type: 'APPROVED',
        isCaptured: true,
        references,
        stated: { capturedCents: null, voidedCents: 300, isClosed: false }
      },
      { status: 'partially_refunded', refunded: 300, wake: 60_000, result: 'succeeded' }
    ]
  },
  'more authorised than was asked for': {
    'is listed, and is not captured': [
      inStatus('pre_authorized', reported()),
      found('authorised', { amountCents: 2_000, capturedCents: 0 }),
      { status: 'pre_authorized', authorised: null, effect: 'query', ...listed }
    ],
    'is listed once': [
      inStatus('pre_authorized', { ...own(NOW - policy.notFoundHorizonMs), ...listed }),
      found('authorised', { amountCents: 2_000, capturedCents: 0 }),
      { authorised: null, effect: null }
    ]
  },
  'less authorised than was asked for': {
    'can be captured up to that amount': [
      inStatus('unknown', { mode: 'manual' }),
      found('authorised', { amountCents: 700, capturedCents: 0 }),
      { status: 'pre_authorized', ...listed }
    ],
    'is what a payment with capture captures': [
      'unknown',
      found('authorised', { amountCents: 700, capturedCents: 0 }),
      { status: 'capturing', effect: 'capture 700', ...listed }
    ],
    'is taken over by a hold whose answer left it out': [
      inStatus('pre_authorized', reported()),
      found('authorised', { amountCents: 700, capturedCents: 0 }),
      { status: 'pre_authorized', authorised: 700, effect: 'query', isChanged: true, ...listed }
    ],
    'is passed over once it is taken over': [
      inStatus('pre_authorized', { ...own(NOW - policy.notFoundHorizonMs), authorizedCents: 700, ...listed }),
      found('authorised', { amountCents: 700, capturedCents: 0 }),
      { authorised: 700, effect: null }
    ],
    'is taken over by a capture in doubt': [
      inStatus('capturing', inDoubt('capture', 600)),
      found('captured', { amountCents: 700, capturedCents: 600 }),
      { status: 'captured', authorised: 700, captured: 600, ...listed }
    ],
    'is taken over after a capture of a part': [
      inStatus('captured', { ...own(), capturedCents: 600 }),
      found('captured', { amountCents: 700, capturedCents: 600 }),
      { status: 'captured', authorised: 700, captured: 600, effect: 'query', ...listed }
    ],
    'is taken over by a refund in doubt': [
      inStatus('refunding', { ...inDoubt('refund', 300), capturedCents: 600 }),
      found('captured', { amountCents: 700, capturedCents: 600, voidedCents: 300 }),
      { status: 'partially_refunded', authorised: 700, captured: 600, refunded: 300, ...listed }
    ],
    'is not told by a record with the captured amount in its place': [
      inStatus('captured', { ...own(NOW - policy.notFoundHorizonMs), capturedCents: 600 }),
      found('captured', { amountCents: 600, capturedCents: 600 }),
      { status: 'captured', authorised: null, captured: 600, reviewReason: null, wake: null }
    ],
    'is not asked for more once the record shows it': [
      inStatus('capturing', inDoubt('capture', 1_000)),
      found('authorised', { amountCents: 700, capturedCents: 0 }),
      { status: 'capturing', phase: 'reconciling', effect: null }
    ],
    'ends a capture of more at the horizon': [
      inStatus('capturing', { ...inDoubt('capture', 1_000), mode: 'manual' }),
      { ...found('authorised', { amountCents: 700, capturedCents: 0 }), nowMs: LATER },
      { status: 'pre_authorized', result: 'failed', error: 'provider_rejected' }
    ],
    'refuses a capture above that amount': [
      inStatus('pre_authorized', { authorizedCents: 700 }),
      { type: 'CAPTURE', amountCents: 701, idempotencyKey: 'k' },
      { refused: 'amount_exceeds_authorized' }
    ],
    'is what a capture without an amount takes': [
      inStatus('pre_authorized', { authorizedCents: 700 }),
      { type: 'CAPTURE', amountCents: null, idempotencyKey: 'k' },
      { status: 'capturing', effect: 'capture 700' }
    ]
  }
}

for (const [title, rows] of Object.entries(tables)) describeRows(title, rows)
