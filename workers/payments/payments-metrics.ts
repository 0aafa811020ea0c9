/** The metrics of `payments`: how long each step of a command takes, and how it ended. */
import { type Registry, register } from 'prom-client'
import { metricsIn, STEP_BUCKETS_S } from '../../runtime/metrics.js'
import { createOutcomeMetrics } from './outcome-metrics.js'
import type { Unconfirmed } from './reconciling-network.js'

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

const LONG_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60]

/** Registers the metrics; once per registry. */
export function createWorkerMetrics(registry: Registry = register) {
  const { counter, counterBy, duration } = metricsIn(registry)
  return {
    queued: duration(
      'card_payments_command_queue_seconds',
      'Step queue: time from the acceptance of a command to a worker.',
      LONG_BUCKETS_S,
      'command'
    ),
    called: duration(
      'card_payments_network_call_seconds',
      'Step network: time of one call to the card network.',
      LONG_BUCKETS_S,
      'operation',
      'outcome'
    ),
    committed: duration(
      'card_payments_commit_seconds',
      'Step commit: time of one write. `outcome`: committed, finished (nothing to change), version_conflict, taken_over, failed.',
      STEP_BUCKETS_S,
      'outcome'
    ),
    notificationGivenUp: counter(
      'card_payments_notifications_given_up_total',
      'Notifications of the card network whose payment was never found: one may be a chargeback that no merchant sees.'
    ),
    absenceUnconfirmed: counterBy<Unconfirmed>(
      'card_payments_absences_unconfirmed_total',
      'Answers "there is no such sale" that were not believed, by `reason` (docs/OPERATIONS.md, NetworkAnswersBadly).',
      'reason'
    ),
    abandoned: counter(
      'card_payments_payments_abandoned_total',
      'Payments without a command that their wake-up found: a stream was trimmed by hand.'
    ),
    /** Counts a commit that was written. */
    changed: createOutcomeMetrics(registry)
  }
}
