/** Finds API keys in the data of one installation, for authentication. */
import type { Redis } from '../connection/connections.js'
import { assertUnchanged, type Installation } from '../installation/installation.js'
import { type KeyRecord, MerchantStore } from './merchants.js'

/**
 * Returns what finds a key: null when there is none. Rejects while the data is not that of the installation, because
 * a server that was emptied, or another one, knows no key, and none of them is wrong.
 *
 * @param nowMs decides whether a key has expired
 */
export function createKeyFinder(
  redis: Redis,
  { environment, id }: Installation,
  nowMs: () => number
): (keyId: string) => Promise<KeyRecord | null> {
  const merchants = new MerchantStore(redis, environment)
  return async keyId => {
    const found = await merchants.findKey(keyId, nowMs())
    if (found === null) await assertUnchanged(redis, id)
    return found
  }
}
