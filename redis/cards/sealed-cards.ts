/** The boxes of all stored cards, for the rotation of the vault's keys: read and replaced one by one while the service runs. */
import { scanKeys } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { defineScript } from '../scripts.js'

/** A box and for whom it was sealed. */
export interface SealedCardRecord {
  /** The key of the record in the durable Redis. */
  readonly key: string
  readonly merchantId: string
  readonly tokenId: string
  readonly cardBox: string
}

export interface SealedCards {
  /** Every card that exists during the whole walk, once or more often; one that is stored meanwhile may be missing. */
  all(): AsyncIterable<SealedCardRecord>
  /** Puts `newBox` in the place of the box that was read. False when the record has another box by now, or was erased. */
  replaceBox(record: SealedCardRecord, newBox: string): Promise<boolean>
}

const ALL_CARDS = '{p*}:card:*'
/** Keys that one step of the scan looks at: few enough not to delay other commands of the server. */
const SCAN_COUNT = 500

/** On a connection to the durable Redis. */
export function createSealedCards(redis: Redis): SealedCards {
  const reseal = defineScript('reseal_card')
  return {
    async *all() {
      for await (const keys of scanKeys(redis, { match: ALL_CARDS, count: SCAN_COUNT, type: 'hash' })) {
        for (const key of keys) {
          const [merchantId, tokenId, cardBox] = await redis.hmget(key, 'merchant', 'token', 'box')
          if (merchantId && tokenId && cardBox) yield { key, merchantId, tokenId, cardBox }
        }
      }
    },
    replaceBox: async ({ key, cardBox }, newBox) => (await reseal(redis, [key], [cardBox, newBox])) === 1
  }
}
