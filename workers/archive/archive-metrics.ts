/** What `archive` tells its operator. */
import { Counter, Gauge, Histogram, type Registry, register } from 'prom-client'
import type { Clock } from '../../runtime/clock.js'

export interface ArchiveMetrics {
  /** `refused`: those that had changed, or were gone, when they were to be removed from Redis. */
  moved(payments: number, refused: number): void
  /** A batch was looked through, and moved where it rested. */
  worked(durationMs: number): void
  /** Since when the oldest payment that is found could have moved (ms); null: all have. */
  waitingSince(dueMs: number | null): void
  /** A round failed and is repeated. */
  failed(): void
}

/** Registers the figures; once per register. */
export function createArchiveMetrics(clock: Clock, registry: Registry = register): ArchiveMetrics {
  const registers = [registry]
  let sinceMs: number | null = null
  const moved = new Counter({
    name: 'card_payments_archive_moved_total',
    help: 'Payments that moved from Redis to the archive.',
    registers
  })
  const refused = new Counter({
    name: 'card_payments_archive_refused_total',
    help: 'Payments that stayed in Redis, because they had changed since they were written into the archive.',
    registers
  })
  const failed = new Counter({
    name: 'card_payments_archive_failures_total',
    help: 'Rounds of moving that failed, because the archive or Redis was away, and were repeated.',
    registers
  })
  const batches = new Histogram({
    name: 'card_payments_archive_batch_seconds',
    help: 'Time for up to 200 payments: to read them, write them into the archive and remove them, ARCHIVE_PER_SECOND included.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers
  })
  const waiting: Gauge = new Gauge({
    name: 'card_payments_archive_oldest_waiting_seconds',
    help: 'How long the oldest payment that was found could have moved already. 0: all have that rested for ARCHIVE_AFTER_DAYS.',
    registers,
    collect: () => waiting.set(sinceMs === null ? 0 : Math.max(0, clock.now() - sinceMs) / 1_000)
  })
  return {
    moved: (payments, others) => {
      moved.inc(payments)
      refused.inc(others)
    },
    worked: durationMs => batches.observe(durationMs / 1_000),
    waitingSince: dueMs => {
      sinceMs = dueMs
    },
    failed: () => failed.inc()
  }
}
