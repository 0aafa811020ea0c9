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
import { aDoubt, CREATED_MS, DAY_MS, policy, references } from '../../support/payments.js'

const DUE = CREATED_MS + 7 * DAY_MS
/** The record is compared once with what the network refused. */
const CONFIRMED_AFTER_MS = 60_000
const capture = (amountCents: number | null, nowMs = NOW): EventInput => ({
  type: 'CAPTURE',
  amountCents,
  idempotencyKey: KEY,
  nowMs
})
const cancel = (amountCents: number | null): EventInput => ({ type: 'CANCEL', amountCents, idempotencyKey: KEY })
const approved: EventInput = { type: 'APPROVED', isCaptured: true, references }
const rejected: EventInput = { type: 'REJECTED', code: '842' }
const declined: EventInput = { type: 'DECLINED', code: '05', references }
const notSent: EventInput = { type: 'NOT_SENT', reason: 'refused' }
const ambiguous: EventInput = { type: 'AMBIGUOUS', reason: 'cut' }
const unanswered: EventInput = { type: 'NO_ANSWER', reason: 'cut' }
const due = (event: EventInput): EventInput => ({ ...event, nowMs: DUE })
const authorised = { status: 'authorised', capturedCents: 0 } as const

const capturing = (phase: 'sending' | 'reconciling'): ReturnType<typeof inStatus> =>
  inStatus('capturing', { mode: 'manual', ...(phase === 'reconciling' ? inDoubt('capture', 600) : {}) })
const cancelling = (phase: 'sending' | 'reconciling'): ReturnType<typeof inStatus> =>
  inStatus('cancelling', phase === 'reconciling' ? inDoubt('cancel', 1_000) : {})
/** Sent again after an earlier try was in doubt. */
const capturedAgain = inStatus('capturing', { reconciliation: aDoubt(NOW - 10_000, { attempts: 1, nextAtMs: NOW }) })
const releasing = inStatus('expired', { reconciliation: aDoubt(NOW - 10_000, { nextAtMs: NOW }) })
/** Asked about for long, and a void was sent again a moment ago. */
const releasingLater = inStatus('expired', { reconciliation: aDoubt(LATER - 10_000, { attempts: 7, nextAtMs: LATER }) })

const tables: Readonly<Record<string, Rows>> = {
  pre_authorized: {
    'captures the whole amount when none is named': [
      'pre_authorized',
      capture(null),
      { status: 'capturing', effect: 'capture 1000', operation: 'capture in_progress', wake: null }
    ],
    'captures a part': ['pre_authorized', capture(600), { status: 'capturing', effect: 'capture 600' }],
    'refuses to capture more than is held': [
      'pre_authorized',
      capture(1_001),
      { refused: 'amount_exceeds_authorized' }
    ],
    'is captured until the last moment of its window': [
      'pre_authorized',
      capture(null, DUE - 1),
      { status: 'capturing' }
    ],
    'refuses a capture at the end of its window': [
      'pre_authorized',
      capture(null, DUE),
      { refused: 'preauth_expired' }
    ],
    'is voided by a cancellation': [
      'pre_authorized',
      cancel(null),
      { status: 'cancelling', effect: 'void', operation: 'cancel in_progress' }
    ],
    'is voided when the whole amount is named': [
      'pre_authorized',
      cancel(1_000),
      { status: 'cancelling', effect: 'void' }
    ],
    'refuses a void of a part': ['pre_authorized', cancel(999), { refused: 'partial_void' }],
    'does not expire early': ['pre_authorized', { type: 'EXPIRE', nowMs: DUE - 1 }, { refused: 'invalid_state' }],
    'queries the network at the end of its window, before it is voided': [
      'pre_authorized',
      { type: 'EXPIRE', nowMs: DUE },
      { status: 'pre_authorized', effect: 'query', isChanged: false }
    ],
    'expires when it was not captured, and is released': [
      'pre_authorized',
      due(found('authorised', authorised)),
      { status: 'expired', phase: 'releasing', effect: 'void' }
    ],
    'does not expire when it was captured without us': [
      'pre_authorized',
      due(found('captured')),
      { status: 'captured', captured: 1_000, effect: null, wake: null, reviewReason: 'figures_differ' }
    ],
    'expires without a void when the hold is gone already': [
      'pre_authorized',
      due(found('voided')),
      { status: 'expired', phase: 'released', effect: null, wake: null, reviewReason: null }
    ],
    'expires without a blind void when the network does not answer': [
      'pre_authorized',
      due(unanswered),
      { status: 'expired', phase: 'releasing', effect: null, wake: DUE - NOW + 2_000 }
    ]
  },
  'capturing (sending)': {
    'is captured by the amount that was asked for': [
      capturing('sending'),
      approved,
      { status: 'captured', captured: 600, result: 'succeeded' }
    ],
    'stays held when the network refuses': [
      capturing('sending'),
      rejected,
      { status: 'pre_authorized', error: 'provider_rejected', result: 'failed', wake: CONFIRMED_AFTER_MS }
    ],
    'stays held when the issuer refuses': [
      capturing('sending'),
      declined,
      { status: 'pre_authorized', error: 'card_declined', result: 'failed' }
    ],
    'stays held when nothing was sent': [
      capturing('sending'),
      notSent,
      { status: 'pre_authorized', error: 'network_unavailable', result: 'failed' }
    ],
    'says that the hold stands when the capture of a create was refused': [
      'capturing',
      rejected,
      { status: 'pre_authorized', error: 'capture_rejected', result: 'failed' }
    ],
    'says that the hold stands when the capture of a create was not sent': [
      'capturing',
      notSent,
      { status: 'pre_authorized', error: 'capture_not_sent', result: 'failed' }
    ],
    'is reconciled without a conclusive answer': [
      capturing('sending'),
      ambiguous,
      { status: 'capturing', phase: 'reconciling', operation: 'capture unknown', wake: 2_000, result: null }
    ],
    'is reconciled when redelivered': [
      capturing('sending'),
      { type: 'RESUMED' },
      { phase: 'reconciling', effect: null, wake: 2_000 }
    ],
    'is reconciled and listed for manual review when poisoned': [
      capturing('sending'),
      { type: 'POISONED' },
      { phase: 'reconciling', reviewReason: 'poisoned' }
    ],
    'refuses a second capture': [capturing('sending'), capture(null), { refused: 'operation_in_progress' }],
    'does not expire': [capturing('sending'), { type: 'EXPIRE', nowMs: DUE }, { refused: 'operation_in_progress' }],
    'does not fail by a refusal while an earlier try may arrive': [
      capturedAgain,
      rejected,
      { status: 'capturing', phase: 'reconciling', operation: 'capture unknown', wake: 15_000, result: null }
    ],
    'does not fail by a call that was not sent while an earlier try may arrive': [
      capturedAgain,
      notSent,
      { phase: 'reconciling', result: null }
    ],
    'fails by a refusal when the earlier try can no longer arrive': [
      capturedAgain,
      { ...rejected, nowMs: LATER },
      { status: 'pre_authorized', result: 'failed' }
    ]
  },
  'capturing (reconciling)': {
    'queries the network': [capturing('reconciling'), { type: 'RECONCILE' }, { effect: 'query', isChanged: false }],
    'is captured as the record says': [
      capturing('reconciling'),
      found('captured', { capturedCents: 600 }),
      { status: 'captured', captured: 600, result: 'succeeded', wake: null }
    ],
    'sends the capture again when the sale is only held': [
      capturing('reconciling'),
      found('authorised', authorised),
      { phase: 'sending', effect: 'capture 600', operation: 'capture in_progress', result: null }
    ],
    'is canceled when the network has voided it': [
      capturing('reconciling'),
      found('voided'),
      { status: 'canceled', result: 'failed', reviewReason: 'figures_differ' }
    ],
    'continues reconciling when denied, and lists it for manual review': [
      capturing('reconciling'),
      found('denied'),
      { phase: 'reconciling', reviewReason: 'figures_differ', wake: 5_000 }
    ],
    'continues reconciling when absent': [
      capturing('reconciling'),
      { type: 'ABSENT', nowMs: LATER },
      { phase: 'reconciling', result: null }
    ],
    'continues reconciling without an answer': [
      capturing('reconciling'),
      unanswered,
      { phase: 'reconciling', wake: 10_000 }
    ],
    'keeps its wake-up when poisoned': [
      capturing('reconciling'),
      { type: 'POISONED' },
      { phase: 'reconciling', wake: 5_000, reviewReason: 'poisoned' }
    ]
  },
  cancelling: {
    'is canceled': [
      cancelling('sending'),
      approved,
      { status: 'canceled', captured: 0, result: 'succeeded', wake: null }
    ],
    'stays held when refused': [
      cancelling('sending'),
      rejected,
      { status: 'pre_authorized', error: 'provider_rejected', result: 'failed' }
    ],
    'stays held when nothing was sent': [
      cancelling('sending'),
      notSent,
      { status: 'pre_authorized', error: 'network_unavailable' }
    ],
    'is reconciled without an answer': [
      cancelling('sending'),
      ambiguous,
      { status: 'cancelling', phase: 'reconciling', operation: 'cancel unknown' }
    ],
    'is canceled when the record shows the void': [
      cancelling('reconciling'),
      found('voided'),
      { status: 'canceled', result: 'succeeded' }
    ],
    'sends the void again while the sale is still held': [
      cancelling('reconciling'),
      found('authorised', authorised),
      { phase: 'sending', effect: 'void' }
    ],
    'is not captured while the void may still arrive, which would refund it': [
      cancelling('reconciling'),
      found('captured'),
      { status: 'cancelling', phase: 'reconciling', result: null, wake: 5_000, reviewReason: 'figures_differ' }
    ],
    'is captured when the record still says so after the horizon': [
      cancelling('reconciling'),
      { ...found('captured'), nowMs: LATER },
      { status: 'captured', captured: 1_000, result: 'failed', reviewReason: 'figures_differ' }
    ],
    'continues reconciling when absent': [
      cancelling('reconciling'),
      { type: 'ABSENT', nowMs: LATER },
      { phase: 'reconciling' }
    ]
  },
  canceled: {
    'refuses a capture': ['canceled', capture(null), { refused: 'invalid_state' }],
    'refuses a cancellation': ['canceled', cancel(null), { refused: 'invalid_state' }]
  },
  expired: {
    'is released': ['expired', approved, { phase: 'released', wake: null }],
    'queries what a refused release has done': [
      'expired',
      rejected,
      { phase: 'releasing', effect: 'query', wake: 2_000 }
    ],
    'tries the release again when it was not sent': ['expired', notSent, { phase: 'releasing', wake: 2_000 }],
    'reconciles the release without an answer': ['expired', ambiguous, { phase: 'releasing', wake: 2_000 }],
    'reconciles the release when redelivered': [
      'expired',
      { type: 'RESUMED' },
      { phase: 'releasing', effect: null, wake: 2_000 }
    ],
    'queries the network': [releasing, { type: 'RECONCILE' }, { effect: 'query' }],
    'sends the void again while the sale is held': [
      releasing,
      found('authorised', authorised),
      { effect: 'void', wake: 5_000 }
    ],
    'is released when the record shows the void': [releasing, found('voided'), { phase: 'released', wake: null }],
    'does not believe an absence before the horizon': [
      releasing,
      { type: 'ABSENT' },
      { phase: 'releasing', wake: 5_000 }
    ],
    'believes an absence after the horizon': [
      releasing,
      { type: 'ABSENT', nowMs: LATER },
      { phase: 'released', wake: null }
    ],
    'is not captured yet when it was captured without us: the void may still arrive': [
      releasing,
      found('captured'),
      { status: 'expired', phase: 'releasing', wake: 5_000, reviewReason: 'figures_differ' }
    ],
    'is captured when no void came in the whole horizon, and listed for manual review': [
      releasing,
      { ...found('captured'), nowMs: LATER },
      { status: 'captured', captured: 1_000, wake: LATER - NOW, reviewReason: 'figures_differ' }
    ],
    'is not captured before the horizon of a void whose outcome is in doubt': [
      releasingLater,
      { ...found('captured'), nowMs: LATER },
      { phase: 'releasing' }
    ],
    'is listed for manual review when the release is in doubt again and again for days': [
      releasing,
      { ...ambiguous, nowMs: DUE + policy.reconcileListAfterMs },
      { phase: 'releasing', reviewReason: 'unresolved_for_long' }
    ],
    'is listed 72 h after the window when each void was refused: that is its only age': [
      inStatus('expired', { reconciliation: aDoubt(LATER - 60_000, { openedMs: DUE, refusedMs: LATER - 60_000 }) }),
      { ...found('authorised', authorised), nowMs: DUE + policy.reconcileListAfterMs },
      { phase: 'releasing', effect: null, reviewReason: 'unresolved_for_long' }
    ],
    'is listed 72 h after the window when a void is refused once more then': [
      inStatus('expired', { reconciliation: aDoubt(LATER, { openedMs: DUE, tries: 3 }) }),
      { type: 'UNPROVEN', reason: 'not voided, code 309', call: 'ended', nowMs: DUE + policy.reconcileListAfterMs },
      { phase: 'releasing', effect: 'query', reviewReason: 'unresolved_for_long' }
    ],
    'is released when the network says that it is too late for a void': [
      releasing,
      { type: 'REJECTED', code: '101', isTooLate: true },
      { phase: 'released', wake: null, reviewReason: null }
    ],
    'is released when only a second sale is left, and queries that next': [
      releasing,
      found('voided', {}, { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }),
      { phase: 'released', wake: 0 }
    ],
    'keeps its wake-up when poisoned': [releasing, { type: 'POISONED' }, { wake: 5_000, reviewReason: 'poisoned' }],
    'refuses a capture as expired': ['expired', capture(null), { refused: 'preauth_expired' }],
    'refuses a cancellation': ['expired', cancel(null), { refused: 'invalid_state' }]
  }
}

for (const [status, rows] of Object.entries(tables)) describeRows(`a hold that is ${status}`, rows, true)
