/** The order of a payment POST: its rules, but never before its Idempotency-Key. */
import type { RouteDeps } from '../http/route.js'
import { ServiceError } from '../http/service-error.js'
import type { RequestScope, Submission } from './payments-port.js'

interface Steps<Request> {
  /** Of the path; null: the request creates a payment. */
  readonly paymentId: string | null
  /** Reads the request. Throws `ServiceError` for a rule that it breaks. */
  readonly parse: () => Request
  readonly scope: () => RequestScope
  readonly submit: (scope: RequestScope, request: Request) => Promise<Submission>
}

/**
 * Submits a request. One that breaks a rule gets what its key had before, if it was used: a rule may be stricter than when the
 * first request was accepted, or unknown to this version, and who repeats a request without an answer takes a refusal for the
 * proof that nothing was charged. Throws what `parse` throws when the key is new, and that is certain.
 */
export async function submitUnlessRefused<Request>(
  { payments, assertWhole }: Pick<RouteDeps, 'payments' | 'assertWhole'>,
  { paymentId, parse, scope, submit }: Steps<Request>
): Promise<Submission> {
  let request: Request
  try {
    request = parse()
  } catch (refusal) {
    if (!(refusal instanceof ServiceError)) throw refusal
    const asked = scope()
    const earlier = await payments.repeat(asked, paymentId)
    if (earlier !== null) return earlier
    // Of data that is not whole, a key without a record may have been used.
    await assertWhole(asked.merchantId)
    throw refusal
  }
  return await submit(scope(), request)
}
