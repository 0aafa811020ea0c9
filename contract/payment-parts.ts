/** Parts of a payment that answers and webhook events show in the same form: their schemas, and how they are made. */
import {
  type Operation,
  operationKinds,
  operationStates,
  type Refund,
  type ShownFailure,
  shownFailures
} from '../machines/model.js'
import {
  answerObject,
  cents,
  component,
  flag,
  oneOfKnown,
  type Shown,
  text,
  textOrNull,
  timeOrNull
} from './answer-fields.js'
import { errorCatalogue, publicCodeOf, publicCodesOf } from './errors.js'

export const paymentFailureSchema = component(
  'PaymentFailure',
  answerObject({
    code: oneOfKnown(
      'absent unless it failed: why; `refund_reversed`: the network took the refund back',
      publicCodesOf(shownFailures)
    ),
    message: text('the same as a sentence'),
    retryable: flag('whether the same can succeed later, under a new `Idempotency-Key`')
  })
)

export function presentFailure(failure: ShownFailure): Shown<typeof paymentFailureSchema> {
  const { message, retryable } = errorCatalogue[failure]
  return { code: publicCodeOf(failure), message, retryable }
}

export const refundSchema = component(
  'Refund',
  answerObject(
    {
      amount_cents: cents(
        'the amount of one refund; the oldest comes first: [the list of refunds](PAYMENTS.md#the-list-of-refunds)'
      ),
      state: oneOfKnown('`in_progress`, `succeeded`, `failed` or `unknown` (in doubt)', operationStates),
      idempotency_key: textOrNull(
        'the `Idempotency-Key` of the request that asked for it; null: refunded outside this service'
      ),
      requested_at: timeOrNull('when it began; null: refunded outside this service'),
      concluded_at: timeOrNull('when its outcome became known; null while it is in progress or unknown'),
      error: paymentFailureSchema.reference
    },
    ['error']
  )
)

export function presentRefund({
  amountCents,
  state,
  idempotencyKey,
  requestedAtMs,
  concludedAtMs,
  error
}: Refund): Shown<typeof refundSchema> {
  return {
    amount_cents: amountCents,
    state,
    idempotency_key: idempotencyKey,
    requested_at: timestampOrNull(requestedAtMs),
    concluded_at: timestampOrNull(concludedAtMs),
    ...(error === null ? {} : { error: presentFailure(error) })
  }
}

export const operationSchema = component(
  'Operation',
  answerObject({
    kind: oneOfKnown('the last operation: `authorization`, `capture`, `cancel` or `refund`', operationKinds),
    state: oneOfKnown(
      '`in_progress`, `succeeded`, `failed` (the payment is as before) or `unknown` (in doubt)',
      operationStates
    ),
    amount_cents: cents('the amount to authorise, capture, release or refund'),
    idempotency_key: text(
      'the `Idempotency-Key` of the request that asked for it: compare it, to tell your operation from another one'
    )
  })
)

export function presentOperation({
  kind,
  state,
  amountCents,
  idempotencyKey
}: Operation): Shown<typeof operationSchema> {
  return { kind, state, amount_cents: amountCents, idempotency_key: idempotencyKey }
}

/** ISO 8601 in UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}

export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms)
}
