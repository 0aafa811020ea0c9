/** What `webhooks` tells its operator: /metrics of the ops server. */
import { Counter, Histogram, type Registry, register } from 'prom-client'
import type { DeliveryBacklog } from '../../redis/webhooks/webhook-queue.js'
import { publishFigures } from '../../runtime/metrics.js'

/** What an attempt came to: its label in the figures. */
export type AttemptResult = 'delivered' | 'refused' | 'unanswered'

export interface WebhookMetrics {
  attempted(result: AttemptResult, durationMs: number): void
  gaveUp(): void
  /** Undeliverable events that are not kept any more: more than WEBHOOK_UNDELIVERABLE_MAX, or too old. */
  dropped(count: number): void
  /** An event of a merchant whose webhooks are switched off. */
  forgot(): void
}

/** Registers the figures of attempts; once per register. */
export function createWebhookMetrics(registry: Registry = register): WebhookMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'card_payments_webhook_attempts_total',
    help: 'Attempts to deliver an event, by what they came to.',
    labelNames: ['result'] as const,
    registers
  })
  const seconds = new Histogram({
    name: 'card_payments_webhook_attempt_seconds',
    help: 'Time until a receiver answered, or did not.',
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers
  })
  const undeliverable = new Counter({
    name: 'card_payments_webhook_undeliverable_total',
    help: 'Events that were given up.',
    registers
  })
  const dropped = new Counter({
    name: 'card_payments_webhook_dropped_total',
    help: 'Undeliverable events that are not kept any more, because of their number or age.',
    registers
  })
  const forgotten = new Counter({
    name: 'card_payments_webhook_forgotten_total',
    help: 'Events of merchants whose webhooks are switched off: neither sent nor kept.',
    registers
  })
  return {
    attempted: (result, durationMs) => {
      attempts.inc({ result })
      seconds.observe(durationMs / 1_000)
    },
    gaveUp: () => undeliverable.inc(),
    dropped: count => dropped.inc(count),
    forgot: () => forgotten.inc()
  }
}

/**
 * Registers the figures of the backlog, read anew for each scrape. They are those of the whole installation, and the same
 * in every `webhooks` process: take the maximum, never the sum.
 */
export function publishBacklog(read: () => Promise<DeliveryBacklog>, registry = register): void {
  publishFigures(registry, read, [
    {
      name: 'card_payments_webhook_commands',
      help: 'Payments whose first event is being sent, or about to be.',
      pick: backlog => backlog.commands
    },
    {
      name: 'card_payments_webhook_commands_oldest_seconds',
      help: 'Age of the oldest of them.',
      pick: backlog => backlog.oldestAgeMs / 1_000
    },
    {
      name: 'card_payments_webhook_waiting_payments',
      help: 'Payments whose events wait for a retry, or for the endpoint of their merchant.',
      pick: backlog => backlog.waiting
    },
    {
      name: 'card_payments_webhook_open_circuits',
      help: 'Endpoints that are only probed at the moment, and for which events wait.',
      pick: backlog => backlog.openCircuits
    }
  ])
}
