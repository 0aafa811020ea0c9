/** What became of a payment request, from the use cases to the answers over HTTP. */
import type { CommandResult } from '../../machines/commands.js'
import type { PaymentProgress, PaymentTerms } from '../../machines/model.js'

/** Where the time of a request went, ms: waiting for a worker, for the payment's lock, for the network, and the rest. */
export interface StepTimes {
  readonly queueMs: number
  readonly lockMs: number
  readonly networkMs: number
  readonly storeMs: number
}

/**
 * The outcome of a submitted request; `times` where its worker has sent them.
 * - `finished`: ended; `isReplay` when an earlier request with the same key did the work
 * - `in_progress`: accepted, not ended within the wait, or the outcome is unknown: the payment as it stands (202), with
 *   the operation that was accepted, also while no worker has begun it
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
