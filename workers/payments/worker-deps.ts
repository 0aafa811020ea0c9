/** The dependencies of a payments worker; tests replace them. */
import type { CardNetwork } from '../../machines/network.js'
import type { Policy, PolicySettings } from '../../machines/payment/policy.js'
import type { CardDeclineStore } from '../../redis/cards/card-declines.js'
import type { CommandQueue } from '../../redis/commands/command-queue.js'
import type { WatchedClock } from '../../redis/connection/redis-clock.js'
import type { PaymentLock } from '../../redis/locks/payment-lock.js'
import type { Inspection } from '../../redis/operator/inspection.js'
import type { CommitStore } from '../../redis/payments/commits.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import type { Logger } from '../../runtime/log.js'
import type { CardData } from './card-data.js'
import type { WorkerMetrics } from './payments-metrics.js'

export interface WorkerDeps {
  readonly payments: PaymentStore
  readonly commits: CommitStore
  readonly queue: CommandQueue
  readonly lock: PaymentLock
  readonly network: CardNetwork
  readonly cardData: CardData
  readonly cardDeclines: Pick<CardDeclineStore, 'note'>
  readonly policy: PolicySettings
  /** Of a partition: what was changed before may be older than what was done (ms); 0: all of it is vouched for. */
  readonly unvouchedBeforeMs: (partition: number) => number
  /** How long a call that was not sent is retried (ms). */
  readonly networkRetryMs: number
  /** Deliveries of a command before it becomes a dead letter. */
  readonly deliveriesMax: number
  /** Receives every decision while an inspector is open (`npm run inspect`). */
  readonly inspection: Inspection
  readonly clock: Pick<WatchedClock, 'now' | 'isApart'>
  readonly metrics: WorkerMetrics
  readonly log: Logger
}

/** The policy for the payments of a partition. */
export function policyFor(partition: number, { policy, unvouchedBeforeMs }: WorkerDeps): Policy {
  const { environment, reconcileDelaysMs, notFoundHorizonMs, reconcileListAfterMs } = policy
  const beforeMs = unvouchedBeforeMs(partition)
  return { environment, reconcileDelaysMs, notFoundHorizonMs, reconcileListAfterMs, unvouchedBeforeMs: beforeMs }
}
