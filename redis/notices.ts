/**
 * What the card network announced: "something happened to this sale". A notice names only the network's own sale id, so
 * somebody has to ask which payment that is; until then it is kept here, durably.
 *
 * A list by time of the next try. Taking a notice moves it into the future: if its taker dies, it comes up again.
 */
import { encodeEntry } from './command-entry.js'
import type { Redis } from './connections.js'
import { compactId, keys, partitionOfPayment } from './keys.js'
import { defineScript } from './scripts.js'
import { createWrites, type Writes } from './writes.js'

const noteNotice = defineScript('note_notice')
const takeNotices = defineScript('take_notices')
const dropNotice = defineScript('drop_notice')

/** A notice about a sale, first heard of at `sinceMs`. */
export interface Notice {
  readonly saleId: string
  readonly sinceMs: number
}

export interface NoticeStore {
  /** Keeps a notice that is due at once. On return it is durable; the same sale announced again counts once. */
  note(saleId: string, nowMs: number): Promise<void>
  /** Up to `count` notices that are due; they come up again at `againAtMs` unless they are dropped or put off. */
  take(nowMs: number, againAtMs: number, count: number): Promise<Notice[]>
  /** Tries again at another time. */
  putOff(saleId: string, untilMs: number): Promise<void>
  /** Forgets a notice that was taken until `againAtMs`. One that was announced again meanwhile stays: it may be news. */
  drop(saleId: string, againAtMs: number): Promise<void>
  /** Tells the workers to ask the network about a payment. Doing so twice does no harm. */
  announce(paymentId: string): Promise<void>
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
    async note(saleId, nowMs) {
      await writes.run(due, node => noteNotice(node, [due, since], [saleId, nowMs]))
    },

    async take(nowMs, againAtMs, count) {
      const found = (await takeNotices(redis, [due, since], [nowMs, againAtMs, count])) as string[]
      const notices: Notice[] = []
      for (let i = 0; i < found.length; i += 2) {
        notices.push({ saleId: found[i] ?? '', sinceMs: Number(found[i + 1]) })
      }
      return notices
    },

    async putOff(saleId, untilMs) {
      await redis.zadd(due, 'XX', untilMs, saleId)
    },

    async drop(saleId, againAtMs) {
      await dropNotice(redis, [due, since], [saleId, againAtMs])
    },

    async announce(paymentId) {
      const partition = partitionOfPayment(paymentId)
      if (partition >= partitions) return
      const entry = encodeEntry({
        compact: compactId(paymentId),
        command: { kind: 'chargeback_notice' },
        record: null,
        replyTo: null,
        correlationId: null,
        handedOut: 0,
        dueAtMs: null
      })
      await writes.run(keys.commands(partition), node => node.xadd(keys.commands(partition), '*', ...entry))
    },

    count: () => redis.zcard(due)
  }
}
