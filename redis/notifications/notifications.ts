/**
 * What the card network reported: "something happened to this sale". A notification names only the network's own sale id, so
 * its payment has to be found first; until then it is kept here, durably.
 *
 * A list by time of the next try. Taking a notification moves it into the future: if its taker dies, it comes up again.
 */
import type { ReportedChange } from '../../machines/model.js'
import { encodeServiceCommand } from '../commands/command-entry.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionNumbers, partitionOfPayment, paymentIdOfKey } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { DamagedValue, numbered, required, storedValue } from '../stored-fields.js'

type Lists = 'due' | 'since'
const noteNotification = defineNamedScript<{
  keys: Lists
  given: { notification: string; nowMs: number }
}>('note_notification')
const takeNotifications = defineNamedScript<{
  keys: Lists
  given: { nowMs: number; againAtMs: number; max: number }
}>('take_notifications')
const dropNotification = defineNamedScript<{
  keys: Lists
  given: { notification: string; againAtMs: number }
}>('drop_notification')

/** What the network said about a sale of its own. */
export interface NetworkNotification {
  readonly saleId: string
  readonly reported: ReportedChange
}

/** A notification that waits for its payment to be found. Its age counts from `sinceMs`, without the time in which nothing ran. */
export interface WaitingNotification extends NetworkNotification {
  readonly sinceMs: number
}

export interface NotificationStore {
  /** Keeps a notification that is due at once. On return it is durable; the same one reported again counts once. */
  note(notification: NetworkNotification, nowMs: number): Promise<void>
  /** How many are due, up to `max`. */
  countDue(nowMs: number, max: number): Promise<number>
  /** Up to `count` notifications that are due; they come up again at `againAtMs` unless they are dropped or put off. */
  take(
    nowMs: number,
    againAtMs: number,
    count: number,
    onUnreadable?: (error: unknown) => void
  ): Promise<WaitingNotification[]>
  /** Tries again at another time. */
  putOff(notification: NetworkNotification, untilMs: number): Promise<void>
  /** Forgets a notification that was taken until `againAtMs`. One that was reported again meanwhile stays: it may be news. */
  drop(notification: NetworkNotification, againAtMs: number): Promise<void>
  /** The payment whose sale this is, if the sale is known here. */
  findPayment(saleId: string): Promise<string | null>
  /** Tells the workers to verify a payment. Doing so twice does no harm. */
  forward(paymentId: string, reported: ReportedChange): Promise<void>
  /** How many notifications wait for their payment to be found. */
  count(): Promise<number>
}

export function createNotificationStore(writes: Writes, partitions: number): NotificationStore {
  const { redis } = writes
  const [due, since] = [keys.notifications(), keys.notificationsSince()]
  return {
    async note(notification, nowMs) {
      await writes.run(due, node =>
        noteNotification(node, { due, since }, { notification: storedNotification.encode(notification), nowMs })
      )
    },

    async countDue(nowMs, max) {
      return (await redis.zrangebyscore(due, '-inf', nowMs, 'LIMIT', 0, max)).length
    },

    async take(nowMs, againAtMs, count, onUnreadable) {
      const found = (await takeNotifications(redis, { due, since }, { nowMs, againAtMs, max: count })) as string[]
      const notifications: WaitingNotification[] = []
      for (let i = 0; i < found.length; i += 2) {
        const member = found[i] ?? ''
        try {
          notifications.push({ ...storedNotification.decode(member), sinceMs: Number(found[i + 1]) })
        } catch (error) {
          // That of another version comes up again for a process of that version; a damaged one never, and stays counted.
          if (error instanceof DamagedValue) await redis.zadd(due, 'XX', '+inf', member)
          onUnreadable?.(error)
        }
      }
      return notifications
    },

    async putOff(notification, untilMs) {
      await redis.zadd(due, 'XX', untilMs, storedNotification.encode(notification))
    },

    async drop(notification, againAtMs) {
      await dropNotification(
        redis,
        { due, since },
        { notification: storedNotification.encode(notification), againAtMs }
      )
    },

    async findPayment(saleId) {
      // A sale id says nothing about the merchant. Notifications are rare: all partitions are asked.
      const sale = saleId.toLowerCase()
      const indexes = partitionNumbers(partitions).map(partition => keys.sales(partition, sale))
      const found = await Promise.all(indexes.map(index => redis.hget(index, sale)))
      const paymentKey = found.find(id => id !== null)
      return paymentKey === undefined || paymentKey === null ? null : paymentIdOfKey(paymentKey)
    },

    async forward(paymentId, reported) {
      const partition = partitionOfPayment(paymentId)
      if (partition >= partitions) return
      const entry = encodeServiceCommand(paymentId, { kind: 'network_notification', reported })
      await writes.run(keys.commands(partition), node => node.xadd(keys.commands(partition), '*', ...entry))
    },

    count: () => redis.zcard(due)
  }
}

/** The member of the lists: what has no `reported` is a change. */
const storedNotification = storedValue<NetworkNotification>('notification', {
  saleId: [required],
  reported: ['change', numbered(['change', 'chargeback', 'denied_refund'] satisfies readonly ReportedChange[])]
})
