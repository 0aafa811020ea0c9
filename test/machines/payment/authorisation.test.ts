import { describeRows, type EventInput, found, inStatus, LATER, NOW, type Rows } from '../../support/decisions.js'
import { aDoubt, policy, references } from '../../support/payments.js'

const approved = (isCaptured: boolean): EventInput => ({ type: 'APPROVED', isCaptured, references })
const declined: EventInput = { type: 'DECLINED', code: '05', references }
const ambiguous: EventInput = { type: 'AMBIGUOUS', reason: 'cut' }
const horizonMs = policy.notFoundHorizonMs
const duplicate = { duplicates: [{ saleId: 'another-sale', isChargedBack: false }] }
const watched = { phase: 'watched' as const, reconciliation: aDoubt(NOW - policy.notFoundHorizonMs, { nextAtMs: NOW }) }

const pending: Rows = {
  'asks the issuer to authorise': ['pending', { type: 'AUTHORISE' }, { effect: 'authorise', isChanged: false }],
  'is captured in one step': [
    'pending',
    approved(true),
    { status: 'captured', captured: 1_000, result: 'succeeded', effect: null, wake: null }
  ],
  'holds the amount, and has a wake-up at the end of the window': [
    inStatus('pending', { mode: 'manual' }),
    approved(false),
    {
      status: 'pre_authorized',
      captured: 0,
      wake: 7 * 86_400_000,
      result: 'succeeded',
      operation: 'authorization succeeded'
    }
  ],
  'continues with the capture that was asked for, under the same request': [
    'pending',
    approved(false),
    { status: 'capturing', phase: 'sending', effect: 'capture 1000', result: null, operation: 'capture in_progress' }
  ],
  'takes what the network captured although only a hold was asked for': [
    inStatus('pending', { mode: 'manual' }),
    approved(true),
    { status: 'captured', captured: 1_000 }
  ],
  'fails when declined': [
    'pending',
    declined,
    { status: 'failed', error: 'card_declined', declinedCode: '05', result: 'failed', wake: null }
  ],
  'fails when rejected': [
    'pending',
    { type: 'REJECTED', code: 'http_401' },
    { status: 'failed', error: 'provider_rejected', declinedCode: null }
  ],
  'fails when it was not sent': [
    'pending',
    { type: 'NOT_SENT', reason: 'refused' },
    { status: 'failed', error: 'network_unavailable', result: 'failed', wake: null }
  ],
  'fails when no worker took it in time': [
    'pending',
    { type: 'OVERDUE' },
    { status: 'failed', error: 'authorization_overdue', result: 'failed', effect: null, wake: null }
  ],
  'fails when the card is gone': [
    'pending',
    { type: 'CARD_MISSING', failure: 'invalid_token' },
    { status: 'failed', error: 'invalid_token' }
  ],
  'fails when the card data cannot be opened': [
    'pending',
    { type: 'CARD_MISSING', failure: 'card_unreadable' },
    { status: 'failed', error: 'card_unreadable', result: 'failed', wake: null }
  ],
  'is unknown without a conclusive answer, and reconciled soon': [
    'pending',
    ambiguous,
    { status: 'unknown', operation: 'authorization unknown', wake: 2_000, result: null, effect: null }
  ],
  'is unknown when redelivered': ['pending', { type: 'RESUMED' }, { status: 'unknown', effect: null, wake: 2_000 }],
  'is unknown and listed when poisoned': [
    'pending',
    { type: 'POISONED' },
    { status: 'unknown', reviewReason: 'poisoned' }
  ]
}

const unknown: Rows = {
  'queries the network': ['unknown', { type: 'RECONCILE' }, { effect: 'query', isChanged: false }],
  'is captured as the record says': [
    'unknown',
    found('captured'),
    { status: 'captured', captured: 1_000, result: 'succeeded' }
  ],
  'holds what the record holds; the window counts from the creation': [
    inStatus('unknown', { mode: 'manual' }),
    found('authorised', { status: 'authorised', capturedCents: 0 }),
    { status: 'pre_authorized', wake: 7 * 86_400_000 - 3_600_000 }
  ],
  'lists it for manual review when the record holds another amount': [
    inStatus('unknown', { mode: 'manual' }),
    found('authorised', { status: 'authorised', amountCents: 900, capturedCents: 0 }),
    { status: 'pre_authorized', reviewReason: 'figures_differ' }
  ],
  'notes what was captured, and lists it for manual review when another amount was asked for': [
    'unknown',
    found('captured', { amountCents: 900, capturedCents: 900 }),
    { status: 'captured', captured: 900, reviewReason: 'figures_differ' }
  ],
  'goes on with the capture that was asked for': [
    'unknown',
    found('authorised', { status: 'authorised', capturedCents: 0 }),
    { status: 'capturing', effect: 'capture 1000', result: null }
  ],
  'fails when it was denied, and is looked at once more when the record can not be behind': [
    'unknown',
    found('denied'),
    { status: 'failed', phase: 'watched', error: 'card_declined', result: 'failed', wake: 600_000 }
  ],
  'fails when the record shows that the sale was voided': [
    'unknown',
    found('voided'),
    { status: 'failed', error: 'provider_rejected' }
  ],
  'voids a duplicate first': [
    'unknown',
    found('captured', {}, duplicate),
    { status: 'unknown', effect: 'void', reviewReason: 'duplicate_sale' }
  ],
  'queries again when the duplicate is voided': ['unknown', approved(false), { status: 'unknown', effect: 'query' }],
  'does not believe an absence before the horizon': [
    'unknown',
    { type: 'ABSENT' },
    { status: 'unknown', wake: 5_000, result: null }
  ],
  'believes an absence from the horizon on, and queries once more much later': [
    'unknown',
    { type: 'ABSENT', nowMs: LATER },
    { status: 'failed', phase: 'watched', error: 'network_unavailable', result: 'failed', wake: 7 * horizonMs }
  ],
  'goes on with queries while there is no answer': [
    'unknown',
    { type: 'NO_ANSWER', reason: 'cut' },
    { status: 'unknown', wake: 10_000, reviewReason: null }
  ],
  'keeps the reason for which it is listed': [
    inStatus('unknown', { reviewReason: 'duplicate_sale' }),
    { type: 'NO_ANSWER', reason: 'cut', nowMs: NOW + policy.reconcileListAfterMs },
    { reviewReason: 'duplicate_sale' }
  ],
  'is listed for what comes of a query, no longer for its age': [
    inStatus('unknown', { reviewReason: 'unresolved_for_long' }),
    found('captured', {}, duplicate),
    { status: 'unknown', effect: 'void', reviewReason: 'duplicate_sale' }
  ],
  'goes on with queries while the sale is unfinished': [
    'unknown',
    found('unfinished'),
    { status: 'unknown', wake: 5_000 }
  ],
  'reads a return code that was found as one that was answered at once': [
    'unknown',
    found('denied', { status: 'denied', capturedCents: 0, declinedCode: '57' }),
    { status: 'failed', error: 'card_expired', declinedCode: '57' }
  ],
  'is listed for manual review after three days, and reconciled on': [
    'unknown',
    { type: 'NO_ANSWER', reason: 'cut', nowMs: NOW + policy.reconcileListAfterMs },
    { status: 'unknown', reviewReason: 'unresolved_for_long', wake: policy.reconcileListAfterMs + 15_000 }
  ],
  'keeps its wake-up when a query is poisoned': [
    'unknown',
    { type: 'POISONED' },
    { status: 'unknown', reviewReason: 'poisoned', wake: 5_000 }
  ],
  'refuses a capture while its outcome is unknown': [
    'unknown',
    { type: 'CAPTURE', amountCents: null, idempotencyKey: 'r' },
    { refused: 'operation_in_progress' }
  ],
  'is reconciled now, and verified when the outcome is known': [
    inStatus('unknown', { reconciliation: { ...aDoubt(NOW - 1_000), nextAtMs: NOW + 3_600_000 } }),
    { type: 'NETWORK_NOTIFICATION', reported: 'change' },
    { status: 'unknown', effect: null, wake: 0 }
  ]
}

const failed: Rows = {
  'is queried once more': [inStatus('failed', watched), { type: 'RECONCILE' }, { effect: 'query', isChanged: false }],
  'is settled when there is no sale': [
    inStatus('failed', watched),
    { type: 'ABSENT' },
    { phase: 'settled', wake: null, reviewReason: null }
  ],
  'is settled when it was denied': [inStatus('failed', watched), found('denied'), { phase: 'settled', wake: null }],
  'voids a late sale': [
    inStatus('failed', watched),
    found('captured'),
    { status: 'failed', effect: 'void', reviewReason: 'sale_after_failure', wake: 5_000 }
  ],
  'voids a late hold': [
    inStatus('failed', watched),
    found('authorised'),
    { status: 'failed', effect: 'void', reviewReason: 'sale_after_failure' }
  ],
  'queries again after the void': [inStatus('failed', watched), approved(false), { effect: 'query' }],
  'tries the void again': [inStatus('failed', watched), ambiguous, { phase: 'watched', wake: 15_000 }],
  'is settled when the late sale is gone': [
    inStatus('failed', watched),
    found('voided'),
    { phase: 'settled', wake: null }
  ],
  'voids a second late sale too': [
    inStatus('failed', watched),
    found('voided', {}, duplicate),
    { phase: 'watched', effect: 'void' }
  ],
  'goes on with queries without an answer': [
    inStatus('failed', watched),
    { type: 'NO_ANSWER', reason: 'cut' },
    { phase: 'watched', wake: 15_000 }
  ],
  'is concluded by an operator who has seen that there is no sale': [
    inStatus('failed', { ...watched, reviewReason: 'unresolved_for_long' }),
    { type: 'OPERATION_CONCLUDED', isBooked: false, nowMs: LATER },
    { status: 'failed', phase: 'settled', wake: null, reviewReason: null, result: null }
  ],
  'refuses to be concluded as booked, because the service has no sale of it': [
    inStatus('failed', watched),
    { type: 'OPERATION_CONCLUDED', isBooked: true, nowMs: LATER },
    { refused: 'invalid_state' }
  ],
  'refuses a capture': [
    'failed',
    { type: 'CAPTURE', amountCents: null, idempotencyKey: 'r' },
    { refused: 'invalid_state' }
  ],
  'refuses a cancellation': [
    'failed',
    { type: 'CANCEL', amountCents: null, idempotencyKey: 'r' },
    { refused: 'invalid_state' }
  ]
}

for (const [status, rows] of Object.entries({ pending, unknown, failed }))
  describeRows(`a payment that is ${status}`, rows, true)
