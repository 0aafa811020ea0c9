/** The metrics of `archive`. */
import { type Registry, register } from 'prom-client'
import type { Clock } from '../../runtime/clock.js'
import { metricsIn } from '../../runtime/metrics.js'

export type ArchiveMetrics = ReturnType<typeof createArchiveMetrics>

/** Registers the metrics; once per registry. */
export function createArchiveMetrics(clock: Clock, registry: Registry = register) {
  const { gauge } = metricsIn(registry)
  let sinceMs: number | null = null
  gauge(
    'card_payments_archive_oldest_waiting_seconds',
    'How long the oldest payment that was found could have moved already. 0: all have that rested for ARCHIVE_AFTER_DAYS.',
    () => (sinceMs === null ? 0 : Math.max(0, clock.now() - sinceMs) / 1_000)
  )
  return {
    /** Since when the oldest payment that is found could have moved (ms); null: all have. */
    waitingSince(dueMs: number | null): void {
      sinceMs = dueMs
    }
  }
}
