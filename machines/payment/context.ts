/** What the chart of a payment knows, and what its conditions and actions get. */
import type { PaymentProgress, PaymentTerms } from '../model.js'
import type { LifecycleEvent } from './events.js'
import type { Policy } from './policy.js'

/** The figures of a payment; its status and phase are the state of the machine. */
export type Figures = Omit<PaymentProgress, 'status' | 'phase'>

export interface PaymentContext {
  readonly terms: PaymentTerms
  readonly figures: Figures
  readonly policy: Policy
}

export interface PaymentArgs {
  readonly context: PaymentContext
  readonly event: LifecycleEvent
}
