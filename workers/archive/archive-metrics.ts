/** The metrics of `archive`. */
import { type Registry, register } from 'prom-client'
import type { Clock } from '../../runtime/clock.js'
import { metricsIn } from '../../runtime/metrics.js'

export type ArchiveMetrics = ReturnType<typeof createArchiveMetrics>

/** Registers the metrics; once per registry. */
export function createArchiveMetrics(clock: Clock, registry: Registry = register) {
  const { counter, duration, gauge } = metricsIn(registry)
  let sinceMs: number | null = null
  const moved = counter('card_payments_archive_moved_total', 'Payments that moved from Redis to the archive.')
  const refused = counter(
    'card_payments_archive_refused_total',
    'Payments that stayed in Redis, because they had changed since they were written into the archive.'
  )
  const failed = counter(
    'card_payments_archive_failures_total',
    'Rounds of moving that failed, because the archive or Redis was unavailable, and were repeated.'
  )
  const batches = duration(
    'card_payments_archive_batch_seconds',
    'Time for up to 200 payments: to read them, write them into the archive and remove them, ARCHIVE_PER_SECOND included.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  )
  gauge(
    'card_payments_archive_oldest_waiting_seconds',
    'How long the oldest payment that was found could have moved already. 0: all have that rested for ARCHIVE_AFTER_DAYS.',
    () => (sinceMs === null ? 0 : Math.max(0, clock.now() - sinceMs) / 1_000)
  )
  return {
    /** `others`: those that had changed, or were gone, when they were to be removed from Redis. */
    moved(payments: number, others: number): void {
      moved(payments)
      refused(others)
    },
    /** A batch was looked through, and moved where it rested. */
    worked: (durationMs: number): void => batches(durationMs, {}),
    /** Since when the oldest payment that is found could have moved (ms); null: all have. */
    waitingSince(dueMs: number | null): void {
      sinceMs = dueMs
    },
    failed
  }
}
