/** The order of a payment POST: its rules, but never before its Idempotency-Key. */
import { ServiceError } from '../http/service-error.js'
import type { PaymentsPort, RequestScope, Submission } from './payments-port.js'

interface Steps<Request> {
  /** Reads the request. Throws `ServiceError` for a rule that it breaks. */
  readonly parse: () => Request
  readonly scope: () => RequestScope
  readonly submit: (scope: RequestScope, request: Request) => Promise<Submission>
}

/**
 * Submits a request. One that breaks a rule gets what its key had before, if it was used: a rule may be stricter than when the
 * first request was accepted, or unknown to this version, and who repeats a request without an answer takes a refusal for the
 * proof that nothing was charged. Throws what `parse` throws when the key is new.
 */
export async function submitUnlessRefused<Request>(
  payments: Pick<PaymentsPort, 'repeat'>,
  { parse, scope, submit }: Steps<Request>
): Promise<Submission> {
  let request: Request
  try {
    request = parse()
  } catch (refusal) {
    const earlier = refusal instanceof ServiceError ? await payments.repeat(scope()) : null
    if (earlier === null) throw refusal
    return earlier
  }
  return await submit(scope(), request)
}
