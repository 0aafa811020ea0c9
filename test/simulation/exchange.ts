/** What a planted mistake (mutants.ts) or a planted circumstance (crash-matrix.ts) exchanges in an installation. */
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import type { DeliveryDeps } from '../../workers/webhooks/delivery-deps.js'

export interface Exchange {
  /** Exchanges the text of the script that it is about, and leaves the others. */
  readonly script?: (lua: string) => string
  readonly worker?: (deps: WorkerDeps) => WorkerDeps
  readonly webhooks?: (deps: DeliveryDeps) => DeliveryDeps
}
