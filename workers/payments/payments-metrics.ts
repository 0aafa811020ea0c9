/** What `payments` tells its operator: how long each step of a command takes, and how it ended. */
import { Counter, Gauge, Histogram, type Registry, register } from 'prom-client'
import type { Environment } from '../../machines/model.js'
import { STEP_BUCKETS_S } from '../../runtime/metrics.js'
import { type Changed, createOutcomeMetrics } from './outcome-metrics.js'
import type { Unconfirmed } from './reconciling-network.js'

/** How a command went that this worker did not end. */
export type NotEnded = 'requeued' | 'released' | 'left' | 'dead_lettered'

export interface WorkerMetrics {
  queued(command: string, waitedMs: number): void
  handled(command: string, durationMs: number): void
  /** One try to get the lock of a payment: `held`, `taken` by another worker, or `failed`. */
  lockTried(outcome: 'held' | 'taken' | 'failed', durationMs: number): void
  called(operation: string, outcome: string, durationMs: number): void
  committed(outcome: string, durationMs: number): void
  /** A commit that was written. */
  changed(change: Changed, environment: Environment): void
  notEnded(way: NotEnded): void
  /** A notification of the card network whose payment was never found. */
  gaveNotificationUp(): void
  absenceUnconfirmed(reason: Unconfirmed): void
}

const LONG_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60]

/** What is read at the moment of a scrape. */
export interface WorkerState {
  /** Commands that this process works on. */
  inWork(): number
  isCircuitOpen(): boolean
}

/** Registers the figures; once per register. */
export function createWorkerMetrics(state: WorkerState, registry: Registry = register): WorkerMetrics {
  const registers = [registry]
  const running: Gauge = new Gauge({
    name: 'card_payments_commands_in_work',
    help: 'Commands that this process works on; WORKER_CONCURRENCY bounds it.',
    registers,
    collect: () => running.set(state.inWork())
  })
  const circuit: Gauge = new Gauge({
    name: 'card_payments_network_circuit_open',
    help: 'Whether this process refuses new payments (1) before anything is sent, because NETWORK_CIRCUIT_FAILURES calls in a row to the card network got no answer.',
    registers,
    collect: () => circuit.set(state.isCircuitOpen() ? 1 : 0)
  })
  const queue = new Histogram({
    name: 'card_payments_command_queue_seconds',
    help: 'Step queue: time from the acceptance of a command to a worker, by the clocks of Redis and of the worker.',
    labelNames: ['command'] as const,
    buckets: LONG_BUCKETS_S,
    registers
  })
  const commands = new Histogram({
    name: 'card_payments_command_seconds',
    help: 'Time that a worker spends on a command, from taking it to its end, everything included.',
    labelNames: ['command'] as const,
    buckets: LONG_BUCKETS_S,
    registers
  })
  const locks = new Histogram({
    name: 'card_payments_payment_lock_seconds',
    help: 'Step lock: time of one try to lock a payment. `outcome`: held, taken (contention: it is tried again), failed.',
    labelNames: ['outcome'] as const,
    buckets: STEP_BUCKETS_S,
    registers
  })
  const calls = new Histogram({
    name: 'card_payments_network_call_seconds',
    help: 'Step network: time of one call to the card network, by operation and by what its answer meant.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: LONG_BUCKETS_S,
    registers
  })
  const commits = new Histogram({
    name: 'card_payments_commit_seconds',
    help: 'Step commit: time of one write. `outcome`: committed, finished (nothing to change), version_conflict, taken_over, failed.',
    labelNames: ['outcome'] as const,
    buckets: STEP_BUCKETS_S,
    registers
  })
  const { notEnded, unplaced, unconfirmed } = createCounters(registers)
  return {
    queued: (command, ms) => queue.observe({ command }, ms / 1_000),
    handled: (command, ms) => commands.observe({ command }, ms / 1_000),
    lockTried: (outcome, ms) => locks.observe({ outcome }, ms / 1_000),
    called: (operation, outcome, ms) => calls.observe({ operation, outcome }, ms / 1_000),
    changed: createOutcomeMetrics(registry),
    committed: (outcome, ms) => commits.observe({ outcome }, ms / 1_000),
    notEnded: way => notEnded.inc({ way }),
    gaveNotificationUp: () => unplaced.inc(),
    absenceUnconfirmed: reason => unconfirmed.inc({ reason })
  }
}

/** What is counted because it should not happen. */
function createCounters(registers: Registry[]) {
  const notEnded = new Counter({
    name: 'card_payments_commands_not_ended_total',
    help: 'Commands that a worker did not end: requeued after a failure, released unbegun at its stop, left to workers of a newer version, moved to the dead letters.',
    labelNames: ['way'] as const,
    registers
  })
  const unplaced = new Counter({
    name: 'card_payments_notifications_given_up_total',
    help: 'Notifications of the card network whose payment was never found: one may be a chargeback that no merchant sees.',
    registers
  })
  const unconfirmed = new Counter({
    name: 'card_payments_absences_unconfirmed_total',
    help: 'Answers "there is no such sale" that were not believed. `reason`: denied (the network does not find a sale that it has surely booked either), no_known_sale (none was booked yet), older_than_account (NETWORK_MERCHANT_ID was changed since).',
    labelNames: ['reason'] as const,
    registers
  })
  return { notEnded, unplaced, unconfirmed }
}
