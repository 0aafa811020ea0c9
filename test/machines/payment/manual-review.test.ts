/** How an operation in doubt ends when the record contradicts the hold, or an operator has looked. */
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

const capturing = inStatus('capturing', { mode: 'manual', ...inDoubt('capture', 600) })
const captureOfCreate = inStatus('capturing', { mode: 'auto', ...inDoubt('capture', 1_000) })
const cancelling = inStatus('cancelling', { ...inDoubt('cancel', 1_000), reviewReason: 'figures_differ' })
const denied = found('denied', { status: 'denied', capturedCents: 0 })
const deniedStill: EventInput = { ...denied, nowMs: LATER }
const deniedBesideAnother = found(
  'denied',
  { status: 'denied', capturedCents: 0 },
  { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }
)
const concluded = (isBooked: boolean, nowMs = LATER): EventInput => ({ type: 'OPERATION_CONCLUDED', isBooked, nowMs })
const recordOf = (voidedCents: number): EventInput => found('captured', { voidedCents })
const refundInDoubt = (refundedCents = 0) =>
  inStatus('refunding', { ...inDoubt('refund', 300), refundedCents, reviewReason: 'figures_differ' })

const tables: Readonly<Record<string, Rows>> = {
  'a sale that the record calls denied': {
    'is reconciled before the horizon': [
      capturing,
      denied,
      { phase: 'reconciling', reviewReason: 'figures_differ', wake: 5_000 }
    ],
    'has no hold to capture after the horizon': [
      capturing,
      deniedStill,
      { status: 'canceled', result: 'failed', error: 'provider_rejected', reviewReason: 'figures_differ' }
    ],
    'is not called declined to a merchant whose hold was there': [
      captureOfCreate,
      deniedStill,
      { status: 'canceled', result: 'failed', error: 'provider_rejected' }
    ],
    'may still be canceled before the horizon': [cancelling, denied, { phase: 'reconciling', result: null }],
    'has no hold any more after the horizon: it is canceled': [
      cancelling,
      deniedStill,
      { status: 'canceled', result: 'succeeded', reviewReason: 'figures_differ' }
    ],
    'gives way to a second sale, which is voided first': [
      capturing,
      deniedBesideAnother,
      { phase: 'reconciling', effect: 'void', reviewReason: 'duplicate_sale' }
    ]
  },
  'a refund that cannot be reconciled': {
    'is listed for manual review when the record fits neither way': [
      refundInDoubt(300),
      recordOf(450),
      { phase: 'reconciling', reviewReason: 'figures_differ', wake: 5_000 }
    ],
    'is booked when an operator has seen it': [
      refundInDoubt(),
      concluded(true),
      { status: 'partially_refunded', refunded: 300, result: 'succeeded', reviewReason: null }
    ],
    'is booked as the last refund when an operator has seen it': [
      refundInDoubt(700),
      concluded(true),
      { status: 'refunded', refunded: 1_000, result: 'succeeded' }
    ],
    'has failed when an operator has seen that it is not booked': [
      refundInDoubt(),
      concluded(false),
      { status: 'captured', refunded: 0, result: 'failed', error: 'provider_rejected' }
    ],
    'has failed beside earlier refunds when an operator has seen that it is not booked': [
      refundInDoubt(300),
      concluded(false),
      { status: 'partially_refunded', refunded: 300, result: 'failed' }
    ],
    'may still arrive: what the operator has seen is noted, and nothing more is sent': [
      refundInDoubt(),
      concluded(true, NOW),
      { effect: null, result: null, wake: 0 }
    ],
    'refuses a conclusion when nothing is in doubt': ['captured', concluded(true), { refused: 'invalid_state' }]
  },
  'a capture that cannot be reconciled': {
    'is booked when an operator has seen it': [
      capturing,
      concluded(true),
      { status: 'captured', captured: 600, result: 'succeeded', reviewReason: null }
    ],
    'leaves the hold, which is verified, when an operator has seen that it is not booked': [
      capturing,
      concluded(false),
      { status: 'pre_authorized', result: 'failed', error: 'provider_rejected', captured: 0 }
    ],
    'of a payment that was to be captured at once leaves a hold, and the merchant sees it': [
      captureOfCreate,
      concluded(false),
      { status: 'pre_authorized', error: 'capture_rejected' }
    ],
    'may still arrive: what the operator has seen is noted, and nothing more is sent': [
      capturing,
      concluded(true, NOW),
      { effect: null, result: null, wake: 0 }
    ]
  },
  'an authorisation that cannot be reconciled': {
    'has failed when an operator has seen that it is not booked: another key is safe': [
      inStatus('unknown', { reviewReason: 'unresolved_for_long' }),
      concluded(false),
      { status: 'failed', result: 'failed', error: 'network_unavailable', reviewReason: null, wake: null }
    ],
    'cannot be booked while its sale is not known, because it could not be captured or refunded': [
      'unknown',
      concluded(true),
      { refused: 'operation_in_progress' }
    ],
    'may still arrive: what the operator has seen is noted, and nothing more is sent': [
      'unknown',
      concluded(false, NOW),
      { effect: null, result: null, wake: 0 }
    ]
  },
  'a cancellation that cannot be reconciled': {
    'is booked when an operator has seen it': [
      cancelling,
      concluded(true),
      { status: 'canceled', result: 'succeeded', reviewReason: null, wake: null }
    ],
    'leaves the hold, which is verified, when an operator has seen that it is not booked': [
      cancelling,
      concluded(false),
      { status: 'pre_authorized', result: 'failed', error: 'provider_rejected', reviewReason: null }
    ],
    'may still arrive: what the operator has seen is noted, and nothing more is sent': [
      cancelling,
      concluded(false, NOW),
      { effect: null, result: null, wake: 0 }
    ]
  }
}

for (const [what, rows] of Object.entries(tables)) describeRows(what, rows)
