/** What the network reports, what its record shows later, and what was done to a sale outside this service. */
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
import { aDoubt, CREATED_MS, DAY_MS, policy, references, refundedElsewhere } from '../../support/payments.js'

const DUE = CREATED_MS + 7 * DAY_MS
const notification: EventInput = { type: 'NETWORK_NOTIFICATION', reported: 'change' }
const noticed = (reported: 'change' | 'chargeback' | 'denied_refund', sinceMs = NOW - 1_000) => ({
  verification: { sinceMs, attempts: 0, nextAtMs: NOW, reported }
})
/** Looked at once, and once more a moment later. */
const verified = { verification: { sinceMs: NOW - 1_000, attempts: 1, nextAtMs: NOW, reported: 'change' as const } }
const MONTHS_LATER = CREATED_MS + 100 * DAY_MS
const justNow = (what: 'refundedAtMs' | 'capturedAtMs' | 'canceledAtMs') => ({ [what]: NOW - 1_000 })
const LONG_AGO = NOW - policy.reconcileListAfterMs
const recordOf = (voidedCents: number): EventInput => found('captured', { voidedCents })
const held = { status: 'authorised', capturedCents: 0 } as const
const duplicate = { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }
const approved: EventInput = { type: 'APPROVED', isCaptured: true, references }
const tooLate: EventInput = { type: 'REJECTED', code: '101', isTooLate: true }
const absent = (nowMs = NOW): EventInput => ({ type: 'ABSENT', nowMs })
const refundInDoubt = (refundedCents = 0, elsewhereCents = 0) => {
  const refunds = elsewhereCents === 0 ? [] : refundedElsewhere(elsewhereCents)
  return inStatus('refunding', { ...inDoubt('refund', 300), refundedCents, refunds, reviewReason: 'figures_differ' })
}

const tables: Readonly<Record<string, Rows>> = {
  'a notification about a hold': {
    'queries the network at once': [
      'pre_authorized',
      notification,
      { status: 'pre_authorized', effect: 'query', wake: 0 }
    ],
    'wakes it before its window ends': [
      inStatus('pre_authorized', noticed('change')),
      { type: 'RECONCILE' },
      { effect: 'query' }
    ],
    'is verified again when the record shows nothing new: it may be behind': [
      inStatus('pre_authorized', noticed('change')),
      found('authorised', held),
      { status: 'pre_authorized', effect: null, wake: 5_000 }
    ],
    'is verified a last time when the record cannot be behind any more': [
      inStatus('pre_authorized', verified),
      found('authorised', held),
      { status: 'pre_authorized', effect: null, wake: policy.notFoundHorizonMs - 1_000 }
    ],
    'is verified when the hold still stands at the horizon': [
      inStatus('pre_authorized', verified),
      { ...found('authorised', held), nowMs: LATER },
      { status: 'pre_authorized', effect: null, wake: DUE - NOW }
    ],
    'keeps the end of the window from voiding what may be captured': [
      inStatus('pre_authorized', { ...verified, expiresAtMs: NOW }),
      found('authorised', held),
      { status: 'expired', phase: 'releasing', effect: null, wake: 2_000 }
    ],
    'keeps the release from going on until it is clear': [
      inStatus('expired', verified),
      found('authorised', held),
      { phase: 'releasing', effect: null, wake: 5_000 }
    ],
    'lets the release go on when the hold stands after all': [
      inStatus('expired', { ...verified, reconciliation: aDoubt(NOW, { tries: 0, unansweredMs: null }) }),
      { ...found('authorised', held), nowMs: LATER },
      { phase: 'releasing', effect: 'void' }
    ],
    'shows a capture made outside this service': [
      inStatus('pre_authorized', noticed('change')),
      found('captured', { capturedCents: 600 }),
      { status: 'captured', captured: 600, reviewReason: 'figures_differ' }
    ],
    'shows a void made outside this service': [
      inStatus('pre_authorized', noticed('change')),
      found('voided'),
      { status: 'canceled', reviewReason: 'figures_differ', wake: null }
    ],
    'is verified later without an answer': [
      inStatus('pre_authorized', noticed('change')),
      { type: 'NO_ANSWER', reason: 'cut' },
      { status: 'pre_authorized', wake: 2_000 }
    ]
  },
  'a chargeback that the record does not show yet': {
    'is verified later': [
      inStatus('captured', noticed('chargeback')),
      recordOf(0),
      { status: 'captured', wake: 5_000, reviewReason: null }
    ],
    'is verified for three days, also when the record can no longer be behind': [
      inStatus('captured', noticed('chargeback')),
      { ...recordOf(0), nowMs: LATER + DAY_MS },
      { status: 'captured', effect: null, reviewReason: null }
    ],
    'is not forgotten for a lesser notification': [
      inStatus('captured', noticed('chargeback')),
      notification,
      { status: 'captured', effect: 'query', wake: 0, reported: 'chargeback' }
    ],
    'is listed for manual review when it never shows': [
      inStatus('captured', noticed('chargeback', LONG_AGO)),
      recordOf(0),
      { status: 'captured', wake: null, reviewReason: 'notification_unconfirmed' }
    ],
    'counts as soon as it shows': [
      inStatus('captured', noticed('chargeback')),
      found('captured', { isChargedBack: true }),
      { status: 'charged_back', wake: 5_000 }
    ],
    'of a canceled payment is listed for manual review as soon as it shows': [
      inStatus('canceled', noticed('chargeback')),
      found('voided', { isChargedBack: true }),
      { status: 'canceled', wake: null, reviewReason: 'figures_differ' }
    ],
    'of a refunded payment is verified later too': [
      inStatus('refunded', noticed('chargeback')),
      recordOf(1_000),
      { status: 'refunded', wake: 5_000 }
    ]
  },
  'a sale that the network does not find': {
    'is looked for again': [inStatus('captured', noticed('chargeback')), absent(), { wake: 5_000, reviewReason: null }],
    'is listed for manual review after three days': [
      inStatus('captured', noticed('change', LONG_AGO)),
      absent(),
      { status: 'captured', wake: null, reviewReason: 'notification_unconfirmed' }
    ],
    'is listed at once for a chargeback after three months': [
      inStatus('captured', noticed('chargeback', MONTHS_LATER)),
      absent(MONTHS_LATER),
      { status: 'captured', wake: null, reviewReason: 'notification_unconfirmed' }
    ],
    'is not listed for a late refund of ours after three months': [
      inStatus('refunded', noticed('change', MONTHS_LATER)),
      absent(MONTHS_LATER),
      { status: 'refunded', wake: null, reviewReason: null }
    ]
  },
  'a refund that was denied afterwards': {
    'is verified later while the record still has it': [
      inStatus('refunded', noticed('denied_refund')),
      recordOf(1_000),
      { status: 'refunded', wake: 5_000 }
    ],
    'leaves the payment captured when the whole refund was denied': [
      inStatus('refunded', noticed('denied_refund')),
      recordOf(0),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'leaves a part refunded when a part was denied': [
      inStatus('refunded', noticed('denied_refund')),
      recordOf(400),
      { status: 'partially_refunded', refunded: 400, reviewReason: 'figures_differ' }
    ],
    'is told from what was refunded outside this service': [
      inStatus('partially_refunded', { ...noticed('denied_refund'), refunds: refundedElsewhere(200) }),
      recordOf(200),
      { status: 'captured', refunded: 0 }
    ]
  },
  'a record that lags': {
    'does not undo a refund of a moment ago': [
      inStatus('refunded', { ...noticed('change'), ...justNow('refundedAtMs') }),
      recordOf(0),
      { status: 'refunded', refunded: 1_000, wake: 5_000, reviewReason: null }
    ],
    'does not undo a part of it': [
      inStatus('partially_refunded', { ...noticed('denied_refund'), ...justNow('refundedAtMs') }),
      recordOf(0),
      { status: 'partially_refunded', refunded: 300, wake: 5_000, reviewReason: null }
    ],
    'does not undo a refund of long ago because something was reported a moment ago': [
      inStatus('refunded', { ...noticed('change'), refundedAtMs: CREATED_MS }),
      recordOf(400),
      { status: 'refunded', refunded: 1_000, wake: 5_000, reviewReason: null }
    ],
    'undoes a refund when it still says so after the horizon': [
      inStatus('refunded', { ...noticed('change'), ...justNow('refundedAtMs') }),
      { ...recordOf(0), nowMs: LATER },
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ' }
    ],
    'is not listed for manual review about a capture of a moment ago': [
      inStatus('captured', { ...noticed('chargeback'), ...justNow('capturedAtMs') }),
      found('authorised', held),
      { status: 'captured', wake: 5_000, reviewReason: null }
    ],
    'is not listed for manual review about a cancellation of a moment ago': [
      inStatus('canceled', { ...noticed('change'), ...justNow('canceledAtMs') }),
      found('authorised', held),
      { status: 'canceled', wake: 5_000, reviewReason: null }
    ]
  },
  'money that was refunded outside this service': {
    'is remembered, and listed for manual review': [
      inStatus('captured', noticed('change')),
      recordOf(300),
      { status: 'captured', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'is nothing new the next time': [
      inStatus('captured', { ...noticed('change'), refunds: refundedElsewhere(300) }),
      { ...recordOf(300), nowMs: LATER },
      { status: 'captured', wake: null, reviewReason: null }
    ],
    'is not taken for the refund in doubt': [
      refundInDoubt(0, 300),
      recordOf(300),
      { status: 'refunding', phase: 'reconciling', refunded: 0 }
    ],
    'does not hide the refund in doubt': [
      refundInDoubt(0, 300),
      recordOf(600),
      { status: 'partially_refunded', refunded: 300, result: 'succeeded' }
    ],
    'lets a refund that never arrived be sent again': [
      refundInDoubt(0, 300),
      { ...recordOf(300), nowMs: LATER },
      { phase: 'sending', effect: 'refund 300' }
    ]
  },
  'a sale that was charged back': {
    'is verified again when the chargeback is confirmed': [
      inStatus('captured', noticed('chargeback')),
      found('captured', { isChargedBack: true, voidedCents: 300 }),
      { status: 'charged_back', effect: null, wake: 5_000 }
    ],
    'has nothing more to wait for when its record shows the chargeback': [
      inStatus('charged_back', noticed('chargeback')),
      { ...found('captured', { isChargedBack: true }), nowMs: LATER },
      { status: 'charged_back', wake: null, reviewReason: null }
    ],
    'shows what was refunded of it outside this service': [
      inStatus('charged_back', noticed('change')),
      found('captured', { isChargedBack: true, voidedCents: 300 }),
      { status: 'charged_back', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'shows that a refund was denied afterwards': [
      inStatus('charged_back', { ...noticed('denied_refund'), refundedCents: 300 }),
      found('captured', { isChargedBack: true }),
      { status: 'charged_back', refunded: 0, reviewReason: 'figures_differ', effect: 'query' }
    ],
    'does not lose a refund of a moment ago to a record that lags': [
      inStatus('charged_back', { ...noticed('change'), ...justNow('refundedAtMs'), refundedCents: 300 }),
      found('captured', { isChargedBack: true }),
      { status: 'charged_back', refunded: 300, reviewReason: null, wake: 5_000 }
    ]
  },
  'a second sale under the order': {
    'of a captured payment is voided': [
      inStatus('captured', noticed('change')),
      found('captured', {}, duplicate),
      { status: 'captured', effect: 'void', reviewReason: 'duplicate_sale', wake: 5_000 }
    ],
    'of a refunded payment is voided': [
      inStatus('refunded', noticed('change')),
      found('voided', { voidedCents: 1_000 }, duplicate),
      { status: 'refunded', effect: 'void', reviewReason: 'duplicate_sale' }
    ],
    'is looked for when the cancellation that came in between is done': [
      inStatus('cancelling', noticed('change')),
      approved,
      { status: 'canceled', wake: 0 }
    ],
    'of a hold is voided': [
      inStatus('pre_authorized', noticed('change')),
      found('authorised', held, duplicate),
      { status: 'pre_authorized', effect: 'void', reviewReason: 'duplicate_sale' }
    ],
    'of a canceled payment is voided': [
      inStatus('canceled', noticed('change')),
      found('voided', {}, duplicate),
      { status: 'canceled', effect: 'void', reviewReason: 'duplicate_sale' }
    ],
    'is voided before the capture in doubt continues': [
      inStatus('capturing', inDoubt('capture', 600)),
      found('authorised', held, duplicate),
      { phase: 'reconciling', effect: 'void', reviewReason: 'duplicate_sale', wake: 5_000 }
    ],
    'is voided before the cancellation in doubt continues': [
      inStatus('cancelling', inDoubt('cancel', 1_000)),
      found('voided', {}, duplicate),
      { phase: 'reconciling', effect: 'void', result: null }
    ],
    'is voided before the refund in doubt continues': [
      inStatus('refunding', inDoubt('refund', 300)),
      found('captured', { voidedCents: 300 }, duplicate),
      { phase: 'reconciling', effect: 'void', result: null }
    ],
    'is queried again when a worker that came too late found it': [
      'pre_authorized',
      { type: 'RECONCILE' },
      { effect: 'query' }
    ],
    'is looked for again when it is voided': [inStatus('captured', noticed('change')), approved, { effect: 'query' }],
    'is not voided again when it is too late, and the sale of the payment is looked at next': [
      inStatus('captured', noticed('change')),
      tooLate,
      { status: 'captured', effect: null, wake: 5_000 }
    ],
    'is tried again when it was not voided': [
      inStatus('captured', noticed('change')),
      { type: 'NOT_SENT', reason: 'refused' },
      { wake: 2_000 }
    ]
  }
}

for (const [what, rows] of Object.entries(tables)) describeRows(what, rows)
