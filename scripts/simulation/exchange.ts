/** What a planted mistake (mutants.ts) or a planted circumstance (crash-matrix.ts) exchanges in an installation. */
import type { Redis } from '../../redis/connections.js'
import type { WorkerDeps } from '../../workers/payments/deps.js'
import type { DeliveryDeps } from '../../workers/webhooks/deps.js'

export interface Exchange {
  /** Exchanges the text of the script that it is about, and leaves the others. */
  readonly script?: (lua: string) => string
  readonly worker?: (deps: WorkerDeps) => WorkerDeps
  /** `redis` is the process's own connection. */
  readonly webhooks?: (deps: DeliveryDeps, redis: Redis) => DeliveryDeps
}
