/** Process `archive` in a world, and what it has to do. */

import type { PaymentArchive } from '../../archive/archive.js'
import type { Environment } from '../../machines/model.js'
import { isAtRest } from '../../machines/payment/wake-ups.js'
import type { Redis } from '../../redis/connection/connections.js'
import { followClock } from '../../redis/connection/redis-clock.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { createdAtMs, keys, partitionOfPayment, paymentIdOfKey } from '../../redis/keys.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import type { Config } from '../../runtime/config.js'
import type { Logger } from '../../runtime/log.js'
import { startMoving } from '../../workers/archive/moving.js'
import type { RedisServer } from './redis-server.js'
import type { SimulatedArchive } from './simulated-archive.js'
import type { Process, World } from './world.js'

/** What the mover needs of an installation. */
interface Archived {
  readonly durable: RedisServer
  readonly archive: SimulatedArchive | null
  readonly config: Config
  connect(process: Process, server: RedisServer): Redis
  connectArchive(process: Process): PaymentArchive | null
}

export const MERCHANT_IDS = ['m_one', 'm_two'] as const
/** As production's days: longer than a payment may take to come back from the archive, which is a minute (ms). */
const AFTER_MS = 180_000
/** The mover looks at a payment this long after it could rest at the earliest (workers/archive/mover.ts). */
const LIFE_MS = 3_600_000
const PER_SECOND = 100

export async function runMover(
  process: Process,
  installation: Archived,
  { world, log, environment }: { world: World; log: Logger; environment: Environment }
): Promise<void> {
  const archive = installation.connectArchive(process)
  if (archive === null) throw new Error('This world has no archive.')
  const redis = installation.connect(process, installation.durable)
  const put: PaymentArchive['put'] = async payments => {
    await archive.put(payments)
    for (const { terms } of payments) world.note('moved', terms.id)
  }
  startMoving(
    {
      writes: unreplicated(redis),
      archive: { ...archive, put },
      merchantIds: async () => MERCHANT_IDS,
      partitions: installation.config.partitions,
      afterMs: AFTER_MS,
      perSecond: PER_SECOND,
      metrics: { waitingSince: () => undefined },
      clock: await followClock(redis, environment),
      log
    },
    async () => undefined,
    new AbortController().signal
  )
}

/** When the mover looks at a payment next (ms). Null: it is not in Redis. */
export function nextLookMs({ durable }: Archived, paymentKey: string): number | null {
  const id = paymentIdOfKey(paymentKey)
  const partition = partitionOfPayment(id)
  if (durable.data.text(keys.payment(partition, paymentKey)) === null) return null
  return durable.data.zset(keys.rests(partition))?.get(paymentKey) ?? createdAtMs(id) + AFTER_MS + LIFE_MS
}

/** When the mover has something to do next (ms); infinite: never, or there is no archive. */
export function nextMoveMs(installation: Archived): number {
  if (installation.archive === null) return Number.POSITIVE_INFINITY
  const looks = keysInRedis(installation).map(paymentKey => nextLookMs(installation, paymentKey))
  return Math.min(...looks.map(lookMs => lookMs ?? Number.POSITIVE_INFINITY))
}

/** The keys of payments that rest, and have not left Redis. */
export function notMoved(installation: Archived): string[] {
  return keysInRedis(installation).filter(paymentKey => {
    const text = installation.durable.data.text(
      keys.payment(partitionOfPayment(paymentIdOfKey(paymentKey)), paymentKey)
    )
    return text !== null && isAtRest(decodePayment(text, paymentKey).progress)
  })
}

function keysInRedis({ durable }: Archived): string[] {
  return [...durable.data.values.keys()].flatMap(key => /:pay:(.+)$/.exec(key)?.[1] ?? [])
}
