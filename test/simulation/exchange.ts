/** What a planted mistake (mutants.ts) or a planted circumstance (crash-matrix.ts) exchanges in an installation. */
import type { PaymentArchive } from '../../archive/archive.js'
import type { CardNetwork } from '../../machines/network.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import type { DeliveryDeps } from '../../workers/webhooks/delivery-deps.js'

export interface Exchange {
  /** Exchanges the text of the script that it is about, and leaves the others. */
  readonly script?: (lua: string) => string
  /** `network`: as it answers, without what the worker asks besides before it believes an absence. */
  readonly worker?: (deps: WorkerDeps, network: CardNetwork) => WorkerDeps
  /** The archive as every process uses it. */
  readonly archive?: (archive: PaymentArchive) => PaymentArchive
  readonly webhooks?: (deps: DeliveryDeps) => DeliveryDeps
}

/** Exchanges one text of a script, word by word. */
export function replace(text: string, by: string): (lua: string) => string {
  return lua => lua.replace(text, by)
}
