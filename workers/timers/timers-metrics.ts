/**
 * The metrics of `timers`: its rounds, and the state of the installation. Every `timers` process reports the same state:
 * take the maximum, never the sum.
 */
import { type Registry, register } from 'prom-client'
import { DOUBT_AGES_S, type QueueStatus } from '../../redis/commands/queue-status.js'
import { metricsIn, publishFigures } from '../../runtime/metrics.js'

export type TimersMetrics = ReturnType<typeof createTimersMetrics>

/** Registers the metrics of the rounds; once per registry. */
export function createTimersMetrics(registry: Registry = register) {
  const { counter } = metricsIn(registry)
  return {
    tookOver: counter('card_payments_takeovers_total', 'Commands of silent workers that other workers took over.'),
    found: counter(
      'card_payments_stray_commands_total',
      'Commands without an owner that were given to workers: a consumer was deleted by hand, or a group was changed.'
    )
  }
}

/** All partitions at one moment. */
export interface InstallationStatus {
  readonly partitions: readonly QueueStatus[]
  /** Workers with a recent heartbeat. */
  readonly workers: number
}

/** Registers the figures of the installation, read anew for each scrape. */
export function publishInstallation(read: () => Promise<InstallationStatus>, registry: Registry = register): void {
  const sum =
    (figureOf: (row: QueueStatus) => number) =>
    ({ partitions }: InstallationStatus): number =>
      partitions.reduce((all, row) => all + figureOf(row), 0)
  publishFigures(registry, read, [
    {
      name: 'card_payments_commands_waiting',
      help: 'Accepted commands that no worker has taken yet.',
      pick: sum(row => Math.max(0, row.length - row.pending))
    },
    {
      name: 'card_payments_commands_oldest_seconds',
      help: 'Age of the oldest command without a result, waiting or in work.',
      pick: ({ partitions }) => Math.max(0, ...partitions.map(row => row.oldestAgeMs ?? 0)) / 1_000
    },
    {
      name: 'card_payments_workers_alive',
      help: '`payments` processes with a recent heartbeat.',
      pick: status => status.workers
    },
    {
      name: 'card_payments_dead_letters',
      help: 'Commands that were taken out of circulation.',
      pick: sum(row => row.deadLetters)
    },
    {
      name: 'card_payments_payments_in_review',
      help: 'Payments that are listed for manual review.',
      pick: sum(row => row.inReview)
    },
    {
      name: 'card_payments_payments_in_doubt',
      help: 'Payments in doubt for at least `older_than_s` seconds.',
      label: 'older_than_s',
      pick: ({ partitions }) =>
        Object.fromEntries(
          DOUBT_AGES_S.map(age => [age, partitions.reduce((all, row) => all + (row.inDoubt[age] ?? 0), 0)])
        )
    }
  ])
}
