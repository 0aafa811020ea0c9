/** What the routes of payments call. api/payments/submit.ts implements it. */
import type { CardSource, CommandResult } from '../../machines/commands.js'
import type { Payment, PaymentProgress, PaymentTerms } from '../../machines/model.js'
import type { Buyer } from '../../machines/network.js'
import type { ListFilter, PaymentPage } from '../../redis/payments/list-payments.js'
import type { StepTimes } from './server-timing.js'

/** The merchant and Idempotency-Key of a request, and how long the client waits for the result (ms). */
export interface RequestScope {
  readonly merchantId: string
  readonly idempotencyKey: string
  /** Hash over method, path and the JSON value of the body (without CVV); equal means "same request". */
  readonly fingerprint: string
  readonly waitMs: number
  readonly correlationId: string | null
  /** The trace of the request (runtime/tracing.ts). */
  readonly traceparent: string | null
}

/** A valid create request: all of the terms that the merchant decides, the buyer, and the card's source. */
export interface CreateRequest {
  readonly terms: Omit<PaymentTerms, 'id' | 'merchantId' | 'card' | 'preauthTtlMs' | 'createdAtMs'>
  readonly buyer: Buyer
  readonly source: CardSource
  /** In the clear from the parser to the sealing in `create`; never logged or stored. */
  readonly cvv: string | null
}

/**
 * The outcome of a submitted request; `times` where its worker has sent them.
 * - `finished`: ended; `isReplay` when an earlier request with the same key did the work
 * - `in_progress`: accepted, not ended within the wait, or the outcome is unknown: the current payment (202), with the
 *   accepted operation, also before a worker begins it
 * - `create_in_progress`: the same key is still creating its payment (409)
 * - `conflict`: the key was used with another request (409), about the payment `paymentId`
 * - `not_found`: no such payment of this merchant
 */
export type Submission =
  | {
      readonly kind: 'finished'
      readonly terms: PaymentTerms
      readonly result: CommandResult
      readonly isReplay: boolean
      readonly times?: StepTimes
    }
  | {
      readonly kind: 'in_progress'
      readonly terms: PaymentTerms
      readonly progress: PaymentProgress
      readonly isReplay: boolean
      readonly times?: StepTimes
    }
  | { readonly kind: 'create_in_progress'; readonly paymentId: string }
  | { readonly kind: 'conflict'; readonly paymentId: string }
  | { readonly kind: 'not_found' }

export interface PaymentsPort {
  /** Throws `ServiceError` `invalid_token` or `unknown_card` before acceptance, `service_unavailable` when Redis does not answer. */
  create(scope: RequestScope, request: CreateRequest): Promise<Submission>
  /** `amountCents` null: everything. */
  capture(scope: RequestScope, paymentId: string, amountCents: number | null): Promise<Submission>
  cancel(scope: RequestScope, paymentId: string, amountCents: number | null): Promise<Submission>
  /** What a request gets whose key was used before, though it can't be read. `paymentId`: of its path. Null: the key is new. */
  repeat(scope: RequestScope, paymentId: string | null): Promise<Submission | null>
  /** Null when there is no such payment of this merchant. */
  read(merchantId: string, paymentId: string): Promise<Payment | null>
  list(merchantId: string, filter: ListFilter, signal?: AbortSignal): Promise<PaymentPage>
}
