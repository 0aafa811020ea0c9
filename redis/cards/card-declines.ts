/**
 * The declines of each stored card, for 30 days: card networks fine merchants who try a card again after an issuer has
 * refused it for good, or too often (decision 34). A list has the return codes and no card data, and expires by itself.
 */
import { DAY_MS } from '../../machines/durations.js'
import type { Redis } from '../connection/connections.js'
import { keys, partitionOf } from '../keys.js'
import { readable, required, storedValue } from '../stored-fields.js'

export interface CardDecline {
  readonly paymentKey: string
  /** The return code as the network wrote it; '' when it gave none. */
  readonly code: string
}

/** Of one card of one merchant. All methods reject while the durable Redis is unavailable. */
export interface CardDeclineStore {
  /** Of one payment once, also when it is noted again. */
  note(merchantId: string, cardId: string, decline: CardDecline, nowMs: number): Promise<void>
  /** The codes of the last 30 days, the newest last. */
  codes(merchantId: string, cardId: string, nowMs: number): Promise<readonly string[]>
}

const REMEMBERED_MS = 30 * DAY_MS

const storedDecline = storedValue<CardDecline>('decline of a card', { paymentKey: [required], code: [''] })

/** `partitions`: the number of the installation. */
export function createCardDeclineStore(redis: Redis, partitions: number): CardDeclineStore {
  const keyOf = (merchantId: string, cardId: string): string =>
    keys.cardDeclines(partitionOf(merchantId, partitions), cardId)
  return {
    async note(merchantId, cardId, decline, nowMs) {
      const key = keyOf(merchantId, cardId)
      await Promise.all([redis.zadd(key, nowMs, storedDecline.encode(decline)), redis.pexpire(key, REMEMBERED_MS)])
    },
    async codes(merchantId, cardId, nowMs) {
      const found = await redis.zrangebyscore(keyOf(merchantId, cardId), nowMs - REMEMBERED_MS, '+inf')
      // One that can't be read counts as a try with an unknown code: it must neither fail the request nor free the card.
      return found.map(text => readable(text, storedDecline.decode)[0]?.code ?? '')
    }
  }
}
