/** The answer to a payment POST: docs/API.md#idempotency, docs/PAYMENTS.md#an-answer-of-202. */
import type { Shown } from '../../contract/answer-fields.js'
import { type paymentSchema, presentPayment } from '../../contract/payment.js'
import type { CommandResult } from '../../machines/commands.js'
import { declineSentence } from '../../machines/decline-messages.js'
import { type Decline, declineOf, isDecline } from '../../machines/declines.js'
import type { Environment, PaymentTerms } from '../../machines/model.js'
import { shownFailureOf } from '../../machines/model.js'
import { rejectionCodeOf } from '../../machines/status-change.js'
import { isRedisUnusable } from '../../redis/connection/redis-errors.js'
import { RETRY_AFTER_S } from '../http/middleware/error-envelope.js'
import { ServiceError } from '../http/service-error.js'
import type { PaymentsPort, Submission } from './payments-port.js'
import { rejectedFieldsOf } from './rejected-fields.js'
import { serverTiming } from './server-timing.js'

const PARTIAL_VOID = { path: 'amount_cents', message: 'must be the whole authorised amount, or absent' }

interface PaymentAnswer<Status> {
  readonly status: Status
  readonly body: Shown<typeof paymentSchema>
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The answer to a submission. Throws its `ServiceError` when it ended with one.
 *
 * @param environment decides the meaning of a decline code
 * @param firstStatus of the first success: 201 for a create, 200 for capture and cancel. A replay is 200.
 * @param waitS of the applied `Prefer`; null: none was applied
 * @param details of a failure, where they are known
 */
export function answerTo<First extends 200 | 201>(
  submission: Submission,
  environment: Environment,
  firstStatus: First,
  waitS: number | null = null,
  details: FailureDetails = {}
): PaymentAnswer<First | 200 | 202> {
  if (submission.kind === 'conflict') {
    throw new ServiceError('idempotency_conflict', { paymentId: submission.paymentId })
  }
  if (submission.kind === 'not_found') throw new ServiceError('not_found')
  if (submission.kind === 'create_in_progress') {
    throw new ServiceError('idempotency_in_progress', {
      paymentId: submission.paymentId,
      headers: { Location: paymentPath(submission.paymentId) }
    })
  }
  const { terms, isReplay, times } = submission
  const headers: Record<string, string> = { Location: paymentPath(terms.id) }
  if (waitS !== null) headers['Preference-Applied'] = `wait=${waitS}`
  if (times !== undefined) headers['Server-Timing'] = serverTiming(times)
  if (isReplay) headers['Idempotent-Replayed'] = 'true'
  if (submission.kind === 'in_progress') {
    headers['Retry-After'] = String(RETRY_AFTER_S)
    return { status: 202, body: presentPayment(terms, submission.progress, environment), headers }
  }
  if (submission.result.kind !== 'succeeded') throw errorOf(submission.result, terms, headers, details)
  const status = isReplay ? 200 : firstStatus
  return { status, body: presentPayment(terms, submission.result.progress, environment), headers }
}

/**
 * What the payment of a failed create knows about its failure: why the issuer declined, or the code with which the network
 * rejected the sale. The result of the create has the code of the error only. `{}` when the payment cannot be read just
 * now: the answer is complete without it.
 */
export async function whyFailed(
  payments: Pick<PaymentsPort, 'read'>,
  submission: Submission,
  environment: Environment
): Promise<FailureDetails> {
  if (submission.kind !== 'finished' || submission.result.kind !== 'failed') return {}
  const { code } = submission.result
  if (!isDecline(code) && code !== 'provider_rejected') return {}
  const { id, merchantId, card } = submission.terms
  const payment = await payments.read(merchantId, id).catch((error: unknown) => {
    if (isRedisUnusable(error)) return null
    throw error
  })
  if (payment === null) return {}
  const { declinedCode } = payment.progress
  if (code !== 'provider_rejected') {
    return declinedCode === null ? {} : presentDecline(declineOf(card.brand, declinedCode, environment))
  }
  const rejectionCode = rejectionCodeOf(payment)
  if (rejectionCode === null) return {}
  const fields = rejectedFieldsOf(rejectionCode)
  return { more: { rejection_code: rejectionCode }, ...(fields.length > 0 && { fields }) }
}

type FailureDetails = Pick<NonNullable<ConstructorParameters<typeof ServiceError>[1]>, 'more' | 'fields'>

/** What the error of a declined create says besides its code. */
export function presentDecline(decline: Decline): FailureDetails {
  return { more: { message: declineSentence(decline), decline_reason: decline.reason, may_retry: decline.mayRetry } }
}

/** The path of a payment; relative, so that it is valid behind every proxy. */
function paymentPath(paymentId: string): string {
  return `/v1/payments/${paymentId}`
}

function errorOf(
  result: Exclude<CommandResult, { kind: 'succeeded' }>,
  terms: PaymentTerms,
  headers: Record<string, string>,
  details: FailureDetails
): ServiceError {
  const paymentId = terms.id
  if (result.kind === 'failed') {
    return new ServiceError(shownFailureOf(result.code, terms), { paymentId, headers, ...details })
  }
  const fields = result.code === 'partial_void' ? [PARTIAL_VOID] : undefined
  return new ServiceError(result.code, { paymentId, headers, ...(fields && { fields }) })
}
