/** The metrics of `webhooks`. */
import { type Registry, register } from 'prom-client'
import type { DeliveryBacklog } from '../../redis/webhooks/webhook-lines.js'
import type { Clock } from '../../runtime/clock.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { metricsIn, publishFigures } from '../../runtime/metrics.js'

/** How long the warning stays after the last failure (ms). */
const WARNS_FOR_MS = 10 * 60_000

/** The outcome of an attempt, as a label. */
export type AttemptResult = 'delivered' | 'refused' | 'unanswered'

/** What became of an event that the service could not deliver for a reason of its own, as a label. */
export type Failure = 'set_aside' | 'left' | 'unsent'

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>

/** Registers the metrics of attempts; once per registry. */
export function createWebhookMetrics(registry: Registry = register) {
  const { counter, counterBy } = metricsIn(registry)
  const attempts = counterBy<AttemptResult>(
    'card_payments_webhook_attempts_total',
    'Attempts to deliver an event, by outcome.',
    'result'
  )
  const failures = counterBy<Failure>(
    'card_payments_webhook_failures_total',
    'Deliveries that failed for a reason of this service, by `way` (docs/OPERATIONS.md, PaymentsNeedOperator).',
    'way'
  )
  return {
    failed: failures,
    attempted: attempts,
    gaveUp: counter('card_payments_webhook_undeliverable_total', 'Events that were given up.'),
    dropped: counter(
      'card_payments_webhook_dropped_total',
      'Undeliverable events that are not kept any more, because of their number or age.'
    )
  }
}

/**
 * The same metrics, with failures as a warning of /readyz, too: merchants can do nothing about them, so operators must know.
 */
export function warnOfFailures(
  metrics: WebhookMetrics,
  clock: Clock,
  { onWarning }: Pick<ProcessContext, 'onWarning'>
): WebhookMetrics {
  let lastMs = Number.NEGATIVE_INFINITY
  onWarning('webhook events', () =>
    clock.now() - lastMs > WARNS_FOR_MS
      ? undefined
      : 'Webhook events could not be delivered for a reason of this service. Damaged ones are dead letters (`operator dead-letter list`), all others are tried again; the log names them.'
  )
  return {
    ...metrics,
    failed(way: Failure) {
      lastMs = clock.now()
      metrics.failed(way)
    }
  }
}

/**
 * Registers the figures of the backlog, read anew for each scrape. They are those of the whole installation, and the same
 * in every `webhooks` process: take the maximum, never the sum.
 */
export function publishBacklog(read: () => Promise<DeliveryBacklog>, registry = register): void {
  publishFigures(registry, read, [
    {
      name: 'card_payments_webhook_commands_oldest_seconds',
      help: 'Age of the oldest event that is being sent, or waits for a worker; retries count from when they were due.',
      pick: backlog => backlog.oldestAgeMs / 1_000
    },
    {
      name: 'card_payments_webhook_waiting_payments',
      help: 'Payments whose events wait for a retry, or for the endpoint of their merchant.',
      pick: backlog => backlog.waiting
    },
    {
      name: 'card_payments_webhook_failing_seconds',
      help: 'For how long the endpoint that has failed longest has failed, while events wait for it.',
      pick: backlog => backlog.failingMs / 1_000
    }
  ])
}
