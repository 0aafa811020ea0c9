/** Deliveries that fail for a reason of this service: merchants can do nothing about them, so operators must know. */
import type { Clock } from '../../runtime/clock.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Failure, WebhookMetrics } from './webhooks-metrics.js'

/** How long the warning stays after the last failure (ms). */
const WARNS_FOR_MS = 10 * 60_000

/** The metrics, with failures as a warning of /readyz, too. */
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
