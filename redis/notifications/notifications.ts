/**
 * What the card network announced: "something happened to this sale". A notice names only the network's own sale id, so
 * its payment has to be found first; until then it is kept here, durably.
 *
 * A list by time of the next try. Taking a notice moves it into the future: if its taker dies, it comes up again.
 */
import type { Announcement } from '../../machines/model.js'
import { encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import { createWrites, type Writes } from '../connection/writes.js'
import { keys, partitionNumbers, partitionOfPayment, paymentIdOfKey } from '../keys.js'
import { defineScript } from '../scripts.js'

const noteNotice = defineScript('note_notice')
const takeNotices = defineScript('take_notices')
const dropNotice = defineScript('drop_notice')

/** What the network said about a sale of its own. */
export interface Announced {
  readonly saleId: string
  readonly announced: Announcement
}

/** A notice that waits for its payment to be found, first heard of at `sinceMs`. */
export interface WaitingNotice extends Announced {
  readonly sinceMs: number
}

export interface NoticeStore {
  /** Keeps a notice that is due at once. On return it is durable; the same one announced again counts once. */
  note(notice: Announced, nowMs: number): Promise<void>
  /** Up to `count` notices that are due; they come up again at `againAtMs` unless they are dropped or put off. */
  take(nowMs: number, againAtMs: number, count: number): Promise<WaitingNotice[]>
  /** Tries again at another time. */
  putOff(notice: Announced, untilMs: number): Promise<void>
  /** Forgets a notice that was taken until `againAtMs`. One that was announced again meanwhile stays: it may be news. */
  drop(notice: Announced, againAtMs: number): Promise<void>
  /** The payment whose sale this is, if the sale is known here. */
  findPayment(saleId: string): Promise<string | null>
  /** Tells the workers to ask the network about a payment. Doing so twice does no harm. */
  announce(paymentId: string, announced: Announcement): Promise<void>
  /** How many notices wait for their payment to be found. */
  count(): Promise<number>
}

export function createNoticeStore(
  redis: Redis,
  partitions: number,
  writes: Writes = createWrites(redis, 0)
): NoticeStore {
  const [due, since] = [keys.notices(), keys.noticesSince()]
  return {
    async note(notice, nowMs) {
      await writes.run(due, node => noteNotice(node, [due, since], [memberOf(notice), nowMs]))
    },

    async take(nowMs, againAtMs, count) {
      const found = (await takeNotices(redis, [due, since], [nowMs, againAtMs, count])) as string[]
      const notices: WaitingNotice[] = []
      for (let i = 0; i < found.length; i += 2) {
        notices.push({ ...noticeOf(found[i] ?? ''), sinceMs: Number(found[i + 1]) })
      }
      return notices
    },

    async putOff(notice, untilMs) {
      await redis.zadd(due, 'XX', untilMs, memberOf(notice))
    },

    async drop(notice, againAtMs) {
      await dropNotice(redis, [due, since], [memberOf(notice), againAtMs])
    },

    async findPayment(saleId) {
      // A sale id says nothing about the merchant. Notices are rare: all partitions are asked.
      const sale = saleId.toLowerCase()
      const indexes = partitionNumbers(partitions).map(partition => keys.sales(partition, sale))
      const found = await Promise.all(indexes.map(index => redis.hget(index, sale)))
      const paymentKey = found.find(id => id !== null)
      return paymentKey === undefined || paymentKey === null ? null : paymentIdOfKey(paymentKey)
    },

    async announce(paymentId, announced) {
      const partition = partitionOfPayment(paymentId)
      if (partition >= partitions) return
      const entry = encodeServiceCommand(paymentId, { kind: 'network_notice', announced })
      await writes.run(keys.commands(partition), node => node.xadd(keys.commands(partition), '*', ...entry))
    },

    count: () => redis.zcard(due)
  }
}

/** `<sale id>`, or `<sale id> <what was announced>` when it is more than "something". */
function memberOf({ saleId, announced }: Announced): string {
  return announced === 'change' ? saleId : `${saleId} ${announced}`
}

function noticeOf(member: string): Announced {
  const [saleId = '', announced = 'change'] = member.split(' ')
  return { saleId, announced: announced as Announcement }
}
