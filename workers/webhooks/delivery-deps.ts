/** The dependencies of webhook delivery; tests replace them. */
import type { PaymentLock } from '../../redis/locks/payment-lock.js'
import type { WebhookQueue } from '../../redis/webhooks/webhook-queue.js'
import type { Clock } from '../../runtime/clock.js'
import type { Logger } from '../../runtime/log.js'
import type { WebhookSecrets } from '../../vault/webhook-secrets.js'
import type { Sender } from './sender.js'
import type { WebhookMetrics } from './webhooks-metrics.js'

export interface DeliveryDeps {
  readonly queue: WebhookQueue
  readonly lock: PaymentLock
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>
  readonly sender: Sender
  /** Gaps between attempts. */
  readonly delaysMs: readonly number[]
  /** Events in flight to one endpoint, at most. */
  readonly concurrency: number
  /** Real time, also where the clock of the test environment was moved. */
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly metrics: WebhookMetrics
  readonly log: Logger
}
