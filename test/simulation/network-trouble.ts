/**
 * Long trouble of the whole card network: it is away for ten minutes, or all queries reach a host that denies every
 * sale, for the equivalent of two hours, or a gateway answers 429 and 503 for two minutes, while more buyers come.
 * What must hold then, and when it is over.
 */
import { orderIdOf } from '../../machines/network.js'
import { keys, partitionNumbers, paymentIdOfKey } from '../../redis/keys.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { LedgerStatus } from '../../scripts/simulator/ledger.js'
import type { RedisData } from './redis-data.js'
import type { Installation } from './simulated-installation.js'
import type { NetworkTrouble } from './simulated-network.js'
import type { World } from './world.js'

export const TROUBLE_BEGINS_AFTER_MS = 10_000
/** The horizon of a world is a fifteenth of the real one: eight minutes are two hours there. */
const LASTS_MS: Readonly<Record<NetworkTrouble, number>> = { away: 600_000, denying: 480_000, throttled: 120_000 }
/** Payments that are begun in the trouble, beside those of every world: enough to open the circuit of a worker. */
export const STORIES_IN_TROUBLE: Readonly<Record<NetworkTrouble, number>> = { away: 0, denying: 0, throttled: 16 }
/** Once the network answers again, everything in doubt is asked about within this time (docs/PAYMENTS.md). */
const ASKED_WITHIN_MS = 60_000

/** Begins in the middle of all other faults. */
export function beginTrouble(world: World, { network }: Installation, trouble: NetworkTrouble): void {
  world.after(TROUBLE_BEGINS_AFTER_MS, null, () => {
    world.note(`network ${trouble}`)
    network.state = trouble
  })
}

/** Lives through the trouble and the minute after it. Returns the payments in doubt that were not asked about then. */
export async function outliveTrouble(
  world: World,
  installation: Installation,
  trouble: NetworkTrouble
): Promise<string[]> {
  const { network } = installation
  await world.turn(() => false, LASTS_MS[trouble])
  world.note('network back')
  network.state = 'well'
  const backAtMs = world.nowMs
  const inDoubt = paymentsInDoubt(installation)
  await world.turn(() => false, ASKED_WITHIN_MS)
  const isAsked = (id: string): boolean => {
    const askedAtMs = network.askedAtMs.get(orderIdOf(id)) ?? 0
    return askedAtMs >= backAtMs && askedAtMs <= backAtMs + ASKED_WITHIN_MS
  }
  const forgotten = paymentsInDoubt(installation).filter(id => inDoubt.includes(id) && !isAsked(id))
  return forgotten.map(id => `${id}: not asked about within a minute after the network was back`)
}

function paymentsInDoubt({ durable, config }: Installation): string[] {
  return partitionNumbers(config.partitions)
    .flatMap(partition => [...(durable.data.zset(keys.inDoubt(partition))?.keys() ?? [])])
    .map(paymentIdOfKey)
}

/** Invariant 3: a payment does not become `failed` while the network has charged or holds its amount. */
export function watchFailures(
  [name, key = '', text = '']: readonly string[],
  data: RedisData,
  { network }: Installation,
  violations: Set<string>
): void {
  if (name !== 'SET') return
  const paymentKey = /:pay:(.+)$/.exec(key)?.[1]
  const isFailed = (record: string): boolean => record.includes('],["failed",')
  if (paymentKey === undefined || !isFailed(text) || isFailed(data.text(key) ?? '')) return
  const { id } = decodePayment(text, paymentKey).terms
  const isLive = network.ledger
    .ofOrder(orderIdOf(id))
    .some(sale => sale.status === LedgerStatus.authorised || sale.capturedAmount > sale.voidedAmount)
  if (isLive) violations.add(`${id}: failed while the network has its sale`)
}
