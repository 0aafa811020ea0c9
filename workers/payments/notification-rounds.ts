/**
 * Turns each notification of the card network into a command for a payment. A notification names a sale, and the payment
 * that owns a sale is stored by the sale's id. For an unknown sale (a second one under an order, or one whose answer was
 * lost) the network is queried for the order id: our order ids are payment ids.
 */
import type { PaymentArchive } from '../../archive/archive.js'
import { type CardNetwork, paymentIdOf } from '../../machines/network.js'
import type { NotificationStore, WaitingNotification } from '../../redis/notifications/notifications.js'
import type { ReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import type { Clock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { timed } from '../../runtime/metrics.js'
import { leaseUntil } from '../network/leases.js'
import type { WorkerMetrics } from './payments-metrics.js'

export interface NotificationDeps {
  readonly notifications: NotificationStore
  /** Knows the sales of payments that left Redis. */
  readonly archive: Pick<PaymentArchive, 'findBySale'> | null
  readonly network: Pick<CardNetwork, 'findOrderId'>
  readonly pace: Pick<ReconcilePace, 'take' | 'returnUnused'>
  readonly clock: Clock
  readonly log: Logger
  /** Age at which the notification of an unknown sale is dropped (ms). */
  readonly giveUpAfterMs: number
  /** After this time a notification counts as abandoned by its taker; longer than any query (ms). */
  readonly leaseMs: number
  readonly metrics: Pick<WorkerMetrics, 'called' | 'notificationGivenUp'>
}

const INTERVAL_MS = 1_000
const TAKE_MAX = 20
/** The payment is queried by its order and by its sale; a sale that is not known here is asked for before. */
const CALLS = 2
/** The pause grows with the age of the notification: after an outage of an hour the network is queried within another hour. */
const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 3_600_000

/** Repeats the rounds until `stopping` aborts. Resolves when the last one has ended. */
export async function repeatNotificationRounds(deps: NotificationDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const taken = await notificationRound(deps, stopping).catch((error: unknown) => {
      warnRateLimited(deps.log, { err: error }, 'notifications could not be worked off, they are tried again')
      return 0
    })
    if (taken < TAKE_MAX) await delay(INTERVAL_MS, stopping)
  }
}

/** One round. Returns the number of notifications that were taken. */
export async function notificationRound(deps: NotificationDeps, stopping: AbortSignal): Promise<number> {
  const nowMs = deps.clock.now()
  const againAtMs = nowMs + deps.leaseMs
  const due = await deps.notifications.countDue(nowMs, TAKE_MAX)
  if (due === 0) return 0
  const allowed = await deps.pace.take(due * CALLS)
  const count = Math.floor(allowed / CALLS)
  const onUnreadable = (error: unknown): void =>
    deps.log.error({ err: error }, 'a notification of the network could not be read')
  const notifications = count === 0 ? [] : await deps.notifications.take(nowMs, againAtMs, count, onUnreadable)
  const unused = allowed - notifications.length * CALLS
  if (unused > 0) await deps.pace.returnUnused(unused)
  await Promise.all(
    notifications.map(notification => resolveNotification({ ...notification, againAtMs }, deps, stopping))
  )
  return notifications.length
}

async function resolveNotification(
  notification: WaitingNotification & { againAtMs: number },
  deps: NotificationDeps,
  stopping: AbortSignal
): Promise<void> {
  const { notifications, archive, log } = deps
  const { saleId, reported, sinceMs, againAtMs } = notification
  const owner = (await notifications.findPayment(saleId)) ?? (await archive?.findBySale(saleId)) ?? null
  if (owner !== null) {
    await notifications.forward(owner, reported)
    return await notifications.drop(notification, againAtMs)
  }
  const orderId = await findOrderId(saleId, deps, stopping)
  if (orderId !== null) {
    const paymentId = paymentIdOf(orderId)
    if (paymentId === null) log.warn({ network_payment_id: saleId }, 'a notification is about a sale of another system')
    else await notifications.forward(paymentId, reported)
    return await notifications.drop(notification, againAtMs)
  }
  const ageMs = deps.clock.now() - sinceMs
  if (ageMs >= deps.giveUpAfterMs) {
    log.error(
      { network_payment_id: saleId, reported },
      'the network never said whose sale this is; look for the sale at the acquirer'
    )
    deps.metrics.notificationGivenUp()
    return await notifications.drop(notification, againAtMs)
  }
  await notifications.putOff(notification, deps.clock.now() + Math.min(Math.max(ageMs, PAUSE_MIN_MS), PAUSE_MAX_MS))
}

async function findOrderId(
  saleId: string,
  { network, metrics }: NotificationDeps,
  stopping: AbortSignal
): Promise<string | null> {
  return await timed(
    () => network.findOrderId(saleId, leaseUntil(stopping)),
    orderId => (orderId ? 'found' : 'no_answer'),
    (outcome, ms) => metrics.called(ms, { operation: 'find_order_id', outcome })
  )
}
