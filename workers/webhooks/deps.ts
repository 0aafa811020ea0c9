/** What the delivery of webhooks works with; everything that a test replaces. */
import type { RetryPolicy } from '../../machines/webhook-schedule.js'
import type { WebhookEndpointStore } from '../../redis/webhook-endpoints.js'
import type { WebhookQueue } from '../../redis/webhook-queue.js'
import type { WebhookSwitches } from '../../redis/webhook-switches.js'
import type { Clock } from '../../runtime/clock.js'
import type { Logger } from '../../runtime/log.js'
import type { WebhookSecrets } from '../../vault/webhook-secrets.js'
import type { WebhookMetrics } from './metrics.js'
import type { Sender } from './sender.js'

export interface DeliveryDeps {
  readonly queue: WebhookQueue
  readonly endpoints: Pick<WebhookEndpointStore, 'find'>
  readonly switches: Pick<WebhookSwitches, 'offSince'>
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>
  readonly sender: Sender
  readonly retries: RetryPolicy
  /** Events under way to one endpoint at the most. */
  readonly concurrency: number
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly metrics: WebhookMetrics
  readonly log: Logger
}
