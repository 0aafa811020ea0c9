/** The boxes of all stored cards, for the rotation of the vault's keys: read and replaced one by one while the service runs. */
import { scanKeys } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { replaceRecord } from '../replace-record.js'
import { readable } from '../stored-fields.js'
import { type NewCard, storedCard } from './cards.js'

/** A card as it was read. */
export interface SealedCardRecord extends NewCard {
  /** The key of the record in the durable Redis. */
  readonly key: string
  readonly record: string
}

export interface SealedCards {
  /** Every card that exists during the whole walk, once or more often; one that is stored meanwhile may be missing. */
  all(): AsyncIterable<SealedCardRecord>
  /** Puts `newBox` in the place of the box that was read. False when the record has another box by now, or was erased. */
  replaceBox(card: SealedCardRecord, newBox: string): Promise<boolean>
}

const ALL_CARDS = '{p*}:card:*'
/** Keys that one step of the scan looks at: few enough not to delay other commands of the server. */
const SCAN_COUNT = 500

/** On a connection to the durable Redis. */
export function createSealedCards(redis: Redis): SealedCards {
  return {
    async *all() {
      for await (const keys of scanKeys(redis, { match: ALL_CARDS, count: SCAN_COUNT, type: 'string' })) {
        for (const key of keys) {
          const record = (await redis.get(key)) ?? ''
          for (const card of readable(record, storedCard.decode)) yield { ...card, key, record }
        }
      }
    },
    replaceBox: ({ key, record, ...card }, cardBox) =>
      replaceRecord(redis, key, record, storedCard.encode({ ...card, cardBox }))
  }
}
