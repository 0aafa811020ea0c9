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
const noticed = { notification: { sinceMs: NOW, attempts: 0, nextAtMs: NOW, reported: 'change' as const } }

const tables: Readonly<Record<string, Rows>> = {
  captured: {
    'gives back all of it': [
      'captured',
      cancel(null),
      { status: 'refunding', effect: 'refund 1000', operation: 'refund in_progress', refunded: 0 }
    ],
    'gives back a part': ['captured', cancel(300), { status: 'refunding', effect: 'refund 300' }],
    'gives back something': ['captured', cancel(0), { refused: 'invalid_state' }],
    'gives back no more than was taken': ['captured', cancel(1_001), { refused: 'amount_exceeds_refundable' }],
    'takes no capture': [
      'captured',
      { type: 'CAPTURE', amountCents: null, idempotencyKey: KEY },
      { refused: 'invalid_state' }
    ]
  },
  partially_refunded: {
    'gives back the rest': ['partially_refunded', cancel(null), { status: 'refunding', effect: 'refund 700' }],
    'gives back another part': ['partially_refunded', cancel(700), { effect: 'refund 700' }],
    'gives back no more than the rest': ['partially_refunded', cancel(701), { refused: 'amount_exceeds_refundable' }]
  },
  'a payment of which others gave back a part': {
    'gives back what others have not: the network would refuse more': [
      inStatus('partially_refunded', { refunds: refundedElsewhere(200) }),
      cancel(null),
      { status: 'refunding', effect: 'refund 500' }
    ],
    'gives back no more than others have left': [
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
    'has nothing left for an amount': ['refunded', cancel(1), { refused: 'amount_exceeds_refundable' }],
    'has no rest to give back': ['refunded', cancel(null), { refused: 'invalid_state' }]
  },
  'refunding (sending)': {
    'is refunded in part': [
      'refunding',
      approved,
      { status: 'partially_refunded', refunded: 300, result: 'succeeded' }
    ],
    'is refunded to the end': [sendingLast, approved, { status: 'refunded', refunded: 1_000, result: 'succeeded' }],
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
    'is asked about without an answer': [
      'refunding',
      ambiguous,
      { status: 'refunding', phase: 'reconciling', operation: 'refund unknown', wake: 2_000, result: null }
    ],
    'is asked about when redelivered': ['refunding', { type: 'RESUMED' }, { phase: 'reconciling', effect: null }],
    'takes no second refund': ['refunding', cancel(1), { refused: 'operation_in_progress' }],
    'remembers a chargeback, which waits': [
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
    'is booked to the end, still shown as captured': [
      reconciling(700),
      recordOf(1_000),
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'is booked to the end, shown as undone': [
      reconciling(700),
      undone(1_000),
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'is not sent again while it may arrive': [
      reconciling(),
      recordOf(0),
      { phase: 'reconciling', effect: null, wake: 5_000, result: null }
    ],
    'is sent again when missing for the whole horizon': [
      reconciling(),
      recordOf(0, LATER),
      { phase: 'sending', effect: 'refund 300', operation: 'refund in_progress' }
    ],
    'compares with what was refunded before': [
      reconciling(300),
      recordOf(300, LATER),
      { phase: 'sending', effect: 'refund 300' }
    ],
    'is not sent again when the record shows something else': [
      reconciling(300),
      recordOf(450, LATER),
      { phase: 'reconciling', effect: null }
    ],
    'is booked when all was undone although a part was asked for, and the rest is noted as refunded elsewhere': [
      reconciling(),
      undone(1_000),
      { status: 'partially_refunded', refunded: 300, result: 'succeeded', reviewReason: 'figures_differ' }
    ],
    'lists it for manual review when it was never captured': [
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
    asks: [
      'captured',
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      { status: 'captured', effect: 'query', wake: 0 }
    ],
    'asks again': [inStatus('captured', noticed), { type: 'RECONCILE' }, { effect: 'query', isChanged: false }],
    'is charged back': [
      inStatus('captured', noticed),
      chargedBack(0),
      { status: 'charged_back', captured: 1_000, refunded: 0, wake: 5_000, result: null }
    ],
    'is not': [
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
    'is listed without an answer for days': [
      inStatus('captured', noticed),
      { type: 'NO_ANSWER', reason: 'cut', nowMs: NOW + policy.reconcileListAfterMs },
      { status: 'captured', reviewReason: 'unresolved_for_long' }
    ],
    'is listed when the network gave back what we do not know of': [
      inStatus('captured', noticed),
      recordOf(400),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'is listed when the network never captured': [
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
    'in part, is charged back': [
      inStatus('partially_refunded', noticed),
      chargedBack(300),
      { status: 'charged_back', refunded: 300 }
    ],
    'in part, is not': [
      inStatus('partially_refunded', noticed),
      recordOf(300),
      { status: 'partially_refunded', reviewReason: null }
    ],
    'in part, and the network denied that afterwards': [
      inStatus('partially_refunded', noticed),
      recordOf(0, LATER),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'as a whole, is charged back': [
      inStatus('refunded', noticed),
      found('voided', { voidedCents: 1_000, isChargedBack: true }),
      { status: 'charged_back' }
    ],
    'as a whole, is not': [
      inStatus('refunded', noticed),
      undone(1_000),
      { status: 'refunded', reviewReason: null, wake: 5_000 }
    ]
  },
  charged_back: {
    'takes no refund': ['charged_back', cancel(1), { refused: 'invalid_state' }],
    'looks for a second sale': [
      'charged_back',
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      { status: 'charged_back', effect: 'query', wake: 0 }
    ]
  },
  'listed for manual review': {
    'is off the list': [
      inStatus('captured', { reviewReason: 'figures_differ' }),
      { type: 'REVIEW_RESOLVED' },
      { status: 'captured', reviewReason: null }
    ],
    'is only taken off when it is on': ['captured', { type: 'REVIEW_RESOLVED' }, { refused: 'invalid_state' }],
    'keeps the first reason': [
      inStatus('captured', { ...noticed, reviewReason: 'duplicate_sale' }),
      recordOf(400),
      { reviewReason: 'duplicate_sale' }
    ],
    'lists a difference in the place of a command that failed': [
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
