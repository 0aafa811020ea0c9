import {
  describeRows,
  type EventInput,
  found,
  inDoubt,
  inStatus,
  KEY,
  LATER,
  NOW,
  type Rows
} from '../../support/decisions.js'
import { policy, references, refundedElsewhere } from '../../support/payments.js'

const cancel = (amountCents: number | null): EventInput => ({ type: 'CANCEL', amountCents, idempotencyKey: KEY })
const approved: EventInput = { type: 'APPROVED', isCaptured: true, references }
const rejected: EventInput = { type: 'REJECTED', code: '100' }
const declined: EventInput = { type: 'DECLINED', code: '05', references }
const notSent: EventInput = { type: 'NOT_SENT', reason: 'refused' }
const ambiguous: EventInput = { type: 'AMBIGUOUS', reason: 'cut' }
const recordOf = (voidedCents: number, nowMs = NOW): EventInput => ({ ...found('captured', { voidedCents }), nowMs })
const undone = (voidedCents: number): EventInput => found('voided', { status: 'voided', voidedCents })
const chargedBack = (voidedCents: number): EventInput => found('captured', { voidedCents, isChargedBack: true })

const sendingLast = inStatus('refunding', {
  refundedCents: 700,
  operation: { kind: 'refund', state: 'in_progress', amountCents: 300, idempotencyKey: KEY }
})
const reconciling = (refundedCents = 0): ReturnType<typeof inStatus> =>
  inStatus('refunding', { ...inDoubt('refund', 300), refundedCents })
const noticed = { verification: { sinceMs: NOW, attempts: 0, nextAtMs: NOW, reported: 'change' as const } }

const tables: Readonly<Record<string, Rows>> = {
  captured: {
    'refunds the whole amount when none is named': [
      'captured',
      cancel(null),
      { status: 'refunding', effect: 'refund 1000', operation: 'refund in_progress', refunded: 0 }
    ],
    'refunds a part': ['captured', cancel(300), { status: 'refunding', effect: 'refund 300' }],
    'refuses a refund of nothing': ['captured', cancel(0), { refused: 'invalid_state' }],
    'refuses a refund of more than was captured': ['captured', cancel(1_001), { refused: 'amount_exceeds_refundable' }],
    'refuses a capture': [
      'captured',
      { type: 'CAPTURE', amountCents: null, idempotencyKey: KEY },
      { refused: 'invalid_state' }
    ]
  },
  partially_refunded: {
    'refunds the rest when no amount is named': [
      'partially_refunded',
      cancel(null),
      { status: 'refunding', effect: 'refund 700' }
    ],
    'refunds another part': ['partially_refunded', cancel(700), { effect: 'refund 700' }],
    'refuses a refund of more than the rest': [
      'partially_refunded',
      cancel(701),
      { refused: 'amount_exceeds_refundable' }
    ]
  },
  'a payment that was refunded in part outside this service': {
    'refunds what others have left, because the network would refuse more': [
      inStatus('partially_refunded', { refunds: refundedElsewhere(200) }),
      cancel(null),
      { status: 'refunding', effect: 'refund 500' }
    ],
    'refuses a refund of more than others have left': [
      inStatus('captured', { refunds: refundedElsewhere(200) }),
      cancel(801),
      { refused: 'amount_exceeds_refundable' }
    ],
    'refunds nothing when all was refunded outside the service': [
      inStatus('captured', { refunds: refundedElsewhere(1_000) }),
      cancel(null),
      { refused: 'amount_exceeds_refundable' }
    ],
    'is refunded when the rest was refunded outside the service': [
      inStatus('refunding', { ...sendingLast.progress, refunds: refundedElsewhere(200), refundedCents: 500 }),
      approved,
      { status: 'refunded', refunded: 800, result: 'succeeded' }
    ]
  },
  'refunded, asked for more': {
    'refuses a refund of any amount': ['refunded', cancel(1), { refused: 'amount_exceeds_refundable' }],
    'refuses a refund of the rest': ['refunded', cancel(null), { refused: 'invalid_state' }]
  },
  'refunding (sending)': {
    'is refunded in part': [
      'refunding',
      approved,
      { status: 'partially_refunded', refunded: 300, result: 'succeeded' }
    ],
    'is refunded as a whole with the last part': [
      sendingLast,
      approved,
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'stays captured when refused': [
      'refunding',
      rejected,
      { status: 'captured', error: 'provider_rejected', result: 'failed', refunded: 0 }
    ],
    'stays partly refunded when refused': [
      sendingLast,
      rejected,
      { status: 'partially_refunded', refunded: 700, result: 'failed' }
    ],
    'stays captured when the issuer refuses': ['refunding', declined, { status: 'captured', error: 'card_declined' }],
    'stays partly refunded when the issuer refuses': [sendingLast, declined, { status: 'partially_refunded' }],
    'stays captured when nothing was sent': [
      'refunding',
      notSent,
      { status: 'captured', error: 'network_unavailable' }
    ],
    'stays partly refunded when nothing was sent': [sendingLast, notSent, { status: 'partially_refunded' }],
    'is reconciled without an answer': [
      'refunding',
      ambiguous,
      { status: 'refunding', phase: 'reconciling', operation: 'refund unknown', wake: 2_000, result: null }
    ],
    'is reconciled when redelivered': ['refunding', { type: 'RESUMED' }, { phase: 'reconciling', effect: null }],
    'refuses a second refund while one is in progress': ['refunding', cancel(1), { refused: 'operation_in_progress' }],
    'remembers what the network reports until the refund has ended': [
      'refunding',
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      { status: 'refunding', effect: null, wake: null }
    ]
  },
  'refunding (reconciling)': {
    'is booked in part': [
      reconciling(),
      recordOf(300),
      { status: 'partially_refunded', refunded: 300, result: 'succeeded' }
    ],
    'is booked as the last part by a record that still says captured': [
      reconciling(700),
      recordOf(1_000),
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'is booked as the last part by a record that says voided': [
      reconciling(700),
      undone(1_000),
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'is not sent again while it may arrive': [
      reconciling(),
      recordOf(0),
      { phase: 'reconciling', effect: null, wake: 5_000, result: null }
    ],
    'is sent again when the record lacks it for the whole horizon': [
      reconciling(),
      recordOf(0, LATER),
      { phase: 'sending', effect: 'refund 300', operation: 'refund in_progress' }
    ],
    'is compared with what was refunded before': [
      reconciling(300),
      recordOf(300, LATER),
      { phase: 'sending', effect: 'refund 300' }
    ],
    'is not sent again when the record shows something else': [
      reconciling(300),
      recordOf(450, LATER),
      { phase: 'reconciling', effect: null }
    ],
    'is booked when the whole sale was voided although a part was asked for, and the rest is noted as refunded elsewhere':
      [
        reconciling(),
        undone(1_000),
        { status: 'partially_refunded', refunded: 300, result: 'succeeded', reviewReason: 'figures_differ' }
      ],
    'is listed for manual review when the record says that nothing was captured': [
      reconciling(),
      found('authorised'),
      { phase: 'reconciling', reviewReason: 'figures_differ' }
    ],
    'never takes an absence as proof': [
      reconciling(),
      { type: 'ABSENT', nowMs: LATER },
      { phase: 'reconciling', result: null }
    ],
    'keeps its wake-up when poisoned': [
      reconciling(),
      { type: 'POISONED' },
      { phase: 'reconciling', wake: 5_000, reviewReason: 'poisoned' }
    ]
  },
  'captured, and a notification came': {
    'queries the network': [
      'captured',
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      { status: 'captured', effect: 'query', wake: 0 }
    ],
    'queries the network again': [
      inStatus('captured', noticed),
      { type: 'RECONCILE' },
      { effect: 'query', isChanged: false }
    ],
    'is charged back when the record shows the chargeback': [
      inStatus('captured', noticed),
      chargedBack(0),
      { status: 'charged_back', captured: 1_000, refunded: 0, wake: 5_000, result: null }
    ],
    'stays captured when the record shows nothing new': [
      inStatus('captured', noticed),
      recordOf(0, LATER),
      { status: 'captured', wake: null, reviewReason: null }
    ],
    'is verified later without an answer': [
      inStatus('captured', noticed),
      { type: 'NO_ANSWER', reason: 'cut' },
      { status: 'captured', wake: 2_000 }
    ],
    'is verified later when not found': [inStatus('captured', noticed), { type: 'ABSENT' }, { wake: 5_000 }],
    'is listed for manual review without an answer for days': [
      inStatus('captured', noticed),
      { type: 'NO_ANSWER', reason: 'cut', nowMs: NOW + policy.reconcileListAfterMs },
      { status: 'captured', reviewReason: 'unresolved_for_long' }
    ],
    'is listed for manual review when the record shows a refund from outside this service': [
      inStatus('captured', noticed),
      recordOf(400),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'is listed for manual review when the record says that nothing was captured': [
      inStatus('captured', noticed),
      found('authorised'),
      { status: 'captured', reviewReason: 'figures_differ' }
    ],
    'keeps its wake-up when poisoned': [
      inStatus('captured', noticed),
      { type: 'POISONED' },
      { wake: 5_000, reviewReason: 'poisoned' }
    ]
  },
  'refunded, and a notification came': {
    'in part, is charged back when the record shows the chargeback': [
      inStatus('partially_refunded', noticed),
      chargedBack(300),
      { status: 'charged_back', refunded: 300 }
    ],
    'in part, stays so when the record shows nothing new': [
      inStatus('partially_refunded', noticed),
      recordOf(300),
      { status: 'partially_refunded', reviewReason: null }
    ],
    'in part, is captured again when the record lacks the refund after the horizon': [
      inStatus('partially_refunded', noticed),
      recordOf(0, LATER),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'as a whole, is charged back when the record shows the chargeback': [
      inStatus('refunded', noticed),
      found('voided', { voidedCents: 1_000, isChargedBack: true }),
      { status: 'charged_back' }
    ],
    'as a whole, stays so when the record shows nothing new': [
      inStatus('refunded', noticed),
      undone(1_000),
      { status: 'refunded', reviewReason: null, wake: 5_000 }
    ]
  },
  charged_back: {
    'refuses a refund': ['charged_back', cancel(1), { refused: 'invalid_state' }],
    'queries for a second sale when the network reports something': [
      'charged_back',
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      { status: 'charged_back', effect: 'query', wake: 0 }
    ]
  },
  'listed for manual review': {
    'leaves the list when an operator resolves it': [
      inStatus('captured', { reviewReason: 'figures_differ' }),
      { type: 'REVIEW_RESOLVED' },
      { status: 'captured', reviewReason: null }
    ],
    'refuses to leave the list when it is not listed': [
      'captured',
      { type: 'REVIEW_RESOLVED' },
      { refused: 'invalid_state' }
    ],
    'keeps the first reason': [
      inStatus('captured', { ...noticed, reviewReason: 'duplicate_sale' }),
      recordOf(400),
      { reviewReason: 'duplicate_sale' }
    ],
    'is listed for a difference in the place of a failed command': [
      inStatus('captured', { ...noticed, reviewReason: 'poisoned' }),
      recordOf(400),
      { reviewReason: 'figures_differ' }
    ],
    'leaves the list when a command failed and the record agrees in the end': [
      inStatus('captured', { ...noticed, reviewReason: 'poisoned' }),
      recordOf(0, NOW + policy.notFoundHorizonMs),
      { reviewReason: null, wake: null }
    ],
    'leaves the list when the outcome of a refund whose command failed is known': [
      inStatus('refunding', { ...inDoubt('refund', 300), reviewReason: 'poisoned' }),
      recordOf(300),
      { reviewReason: null, refunded: 300 }
    ],
    'stays listed while that outcome is in doubt': [
      inStatus('refunding', { ...inDoubt('refund', 300), reviewReason: 'poisoned' }),
      recordOf(0),
      { reviewReason: 'poisoned', result: null }
    ]
  }
}

for (const [status, rows] of Object.entries(tables)) describeRows(`money that is ${status}`, rows, true)
