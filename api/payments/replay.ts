/** What a request gets whose key was used before. */
import { isOpenFor, type Payment, type PaymentProgress } from '../../machines/model.js'
import type { RequestEvent } from '../../machines/payment/events.js'
import { operationBegun } from '../../machines/payment/operations.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import type { IdempotencyValue } from '../../redis/payments/idempotency.js'
import type { RequestScope, Submission } from './payments-port.js'

/** The original result, a conflict, or "still in progress" (docs/API.md#idempotency). */
export function replayOf(
  scope: RequestScope,
  earlier: IdempotencyValue,
  payment: Payment,
  asked: RequestEvent | null
): Submission {
  const conflict = conflictOf(scope, earlier)
  if (conflict !== null) return conflict
  const { terms, progress } = payment
  if (earlier.result !== null) return { kind: 'finished', terms, result: earlier.result, isReplay: true }
  if (earlier.kind === 'create' && progress.status === 'pending') {
    return { kind: 'create_in_progress', paymentId: terms.id }
  }
  return { kind: 'in_progress', terms, progress: progressWith(payment, asked), isReplay: true }
}

/** Null: the request is the one that the key was used with. */
export function conflictOf(scope: RequestScope, { fingerprint, paymentKey }: IdempotencyValue): Submission | null {
  return fingerprint === scope.fingerprint ? null : { kind: 'conflict', paymentId: paymentIdOfKey(paymentKey) }
}

/** The progress with the operation of an accepted command, until a worker begins it. */
export function progressWith({ terms, progress }: Payment, asked: RequestEvent | null): PaymentProgress {
  if (asked === null || isOpenFor(progress.operation, asked.idempotencyKey)) return progress
  return { ...progress, ...operationBegun(terms, progress, asked) }
}
