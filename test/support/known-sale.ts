/** Which sale proves an absence in tests that change the ledger of the network themselves. */
import type { Redis } from '../../redis/connection/connections.js'
import { keys } from '../../redis/keys.js'
import { encodeKnownSale, type KnownSale } from '../../redis/reconciliation/known-sale.js'

/** Notes that sale for good. No sale that the test rewrites or removes can then become the control of an absence. */
export async function noteKnownSale(
  redis: Redis,
  { account, orderId }: Pick<KnownSale, 'account' | 'orderId'>
): Promise<void> {
  const sale: KnownSale = {
    account,
    orderId,
    accountSinceMs: 0,
    notedAtMs: Number.MAX_SAFE_INTEGER,
    voidedShown: 'never'
  }
  await redis.set(keys.knownSale(), encodeKnownSale(sale))
}
