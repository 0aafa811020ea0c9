/** What the chart of a payment knows, and what its conditions and actions get. */
import type { PaymentProgress, PaymentTerms } from '../model.js'
import type { LifecycleEvent } from './events.js'
import type { Policy } from './policy.js'

/** All that changes in a payment's life, but its status and phase: those are the state of the machine. */
export type Facts = Omit<PaymentProgress, 'status' | 'phase'>

export interface PaymentContext {
  readonly terms: PaymentTerms
  readonly facts: Facts
  readonly policy: Policy
}

export interface PaymentArgs {
  readonly context: PaymentContext
  readonly event: LifecycleEvent
}
