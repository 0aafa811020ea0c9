/** The metrics of `payments`: how long each step of a command takes, and how it ended. */
import { type Registry, register } from 'prom-client'
import { metricsIn, STEP_BUCKETS_S } from '../../runtime/metrics.js'
import { createOutcomeMetrics } from './outcome-metrics.js'
import type { Unconfirmed } from './reconciling-network.js'

/** What became of a command that this worker did not end. */
export type NotEnded = 'requeued' | 'released' | 'left' | 'dead_lettered'

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

const LONG_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60]

/** What is read at the moment of a scrape. */
export interface WorkerState {
  /** Commands that this process works on. */
  inWork(): number
  isCircuitOpen(): boolean
}

/** Registers the metrics; once per registry. */
export function createWorkerMetrics(state: WorkerState, registry: Registry = register) {
  const { gauge, counter, counterBy, duration } = metricsIn(registry)
  gauge(
    'card_payments_commands_in_work',
    'Commands that this process works on; WORKER_CONCURRENCY bounds it.',
    state.inWork
  )
  gauge(
    'card_payments_network_circuit_open',
    'Whether this process refuses new payments (1) before anything is sent, because NETWORK_CIRCUIT_FAILURES calls in a row to the card network got no answer.',
    () => Number(state.isCircuitOpen())
  )
  return {
    queued: duration(
      'card_payments_command_queue_seconds',
      'Step queue: time from the acceptance of a command to a worker, by the clocks of Redis and of the worker.',
      LONG_BUCKETS_S,
      'command'
    ),
    handled: duration(
      'card_payments_command_seconds',
      'Time that a worker spends on a command, from taking it to its end, everything included.',
      LONG_BUCKETS_S,
      'command'
    ),
    lockTried: duration(
      'card_payments_payment_lock_seconds',
      'Step lock: time of one try to lock a payment. `outcome`: held, taken (contention: it is tried again), failed.',
      STEP_BUCKETS_S,
      'outcome'
    ),
    called: duration(
      'card_payments_network_call_seconds',
      'Step network: time of one call to the card network, by operation and by what its answer meant.',
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
    notEnded: counterBy<NotEnded>(
      'card_payments_commands_not_ended_total',
      'Commands that a worker did not end: requeued after a failure, released unbegun at its stop, left to workers of another version, moved to the dead letters.',
      'way'
    ),
    notificationGivenUp: counter(
      'card_payments_notifications_given_up_total',
      'Notifications of the card network whose payment was never found: one may be a chargeback that no merchant sees.'
    ),
    absenceUnconfirmed: counterBy<Unconfirmed>(
      'card_payments_absences_unconfirmed_total',
      'Answers "there is no such sale" that were not believed. `reason`: denied (the network does not find a sale that it is known to have booked either), no_known_sale (none was booked yet), older_than_account (NETWORK_MERCHANT_ID was changed since).',
      'reason'
    ),
    abandoned: counter(
      'card_payments_payments_abandoned_total',
      'Payments in progress that no command worked on any more, and that their wake-up found: a stream was trimmed by hand.'
    ),
    /** Counts a commit that was written. */
    changed: createOutcomeMetrics(registry)
  }
}
