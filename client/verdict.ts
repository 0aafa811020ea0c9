/** Classifies answers: which end a request, and after which a retry is safe (docs/API.md#idempotency). */
import type { ErrorEnvelope } from './answer-types.js'
import { NoAnswerError } from './errors.js'

/** A whole answer of the service. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: object
}

/**
 * - `success`: the result
 * - `refused`: final; the same request gets the same answer
 * - `in_progress`: accepted, without a result yet
 * - `not_taken`: the service did not process the request; an earlier try may have been accepted
 * - `not_sent`: nothing was sent; an earlier try may have been accepted
 * - `unknown`: the request may have been accepted
 */
export type Verdict = 'success' | 'refused' | 'in_progress' | 'not_taken' | 'not_sent' | 'unknown'

const NOT_TAKEN = [408, 429]
/** Answered before the service looks for an earlier request with the key: final only when no try may have been accepted. */
const BEFORE_THE_KEY = [401, 403]

/** `mayBeAccepted`: an earlier try of the same request may have been. */
export function verdictOf(answer: ApiAnswer | NoAnswerError, mayBeAccepted: boolean): Verdict {
  if (answer instanceof NoAnswerError) return answer.code === 'not_sent' ? 'not_sent' : 'unknown'
  const { status } = answer
  if (status === 202) return 'in_progress'
  if (status < 300) return 'success'
  const { code, payment_id: paymentId } = errorOf(answer)
  if (code === 'idempotency_in_progress') return 'in_progress'
  if (NOT_TAKEN.includes(status) || (mayBeAccepted && BEFORE_THE_KEY.includes(status))) return 'not_taken'
  // With a payment, it is the result of the request, such as `network_unavailable`.
  return status >= 500 && paymentId === undefined ? 'unknown' : 'refused'
}

/** The body of an answer from 400 on; `transport.ts` has checked its form. */
export function errorOf({ body }: ApiAnswer): ErrorEnvelope['error'] {
  return (body as ErrorEnvelope).error
}

const PAUSE_MAX_MS = 8_000

/**
 * How long to wait before the next try: at least `Retry-After`, and longer after each failure. Jitter spreads the retries
 * of clients that failed together.
 */
export function pauseMs(answer: ApiAnswer | NoAnswerError, failures: number, firstMs: number): number {
  const backOffMs = Math.min(firstMs * 2 ** Math.max(0, failures - 1), PAUSE_MAX_MS)
  const askedMs = answer instanceof NoAnswerError ? 0 : retryAfterMs(answer.headers.get('Retry-After'))
  return Math.max(askedMs, backOffMs / 2) + (Math.random() * backOffMs) / 2
}

/** Seconds, or a date; 0 for anything else. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Math.max(0, waitMs || 0)
}
