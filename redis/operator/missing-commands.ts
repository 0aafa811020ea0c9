/** Payments that wait for a command which is in no stream any more: a stream was trimmed by hand. */
import { type Payment, paymentStatuses } from '../../machines/model.js'
import { hasTag, isInFlight } from '../../machines/payment/machine.js'
import { commandsIn } from '../commands/commands-in-stream.js'
import type { Redis } from '../connection/connections.js'
import { keys, partitionNumbers, partitionOf } from '../keys.js'
import { decodePayment } from '../payments/payment-record.js'
import { readable } from '../stored-fields.js'

export interface PaymentWithoutCommand {
  readonly paymentId: string
  /** When `timers` wakes it (ms); null: never. */
  readonly wakesAtMs: number | null
}

/** The statuses in which a command may be about to make its call. */
const IN_PROGRESS = paymentStatuses.filter(status => hasTag({ status, phase: null }, 'in_progress'))
const INDEXES_AT_ONCE = 500

/**
 * Payments in progress that no command works on, the oldest first. A command is in its stream from before its call until the
 * commit that ends it: so none is lost of a payment that changes while this looks.
 */
export async function paymentsWithoutCommand(
  redis: Redis,
  partitions: number,
  merchantIds: readonly string[]
): Promise<PaymentWithoutCommand[]> {
  const found = await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const indexes = merchantIds
        .filter(merchantId => partitionOf(merchantId, partitions) === partition)
        .flatMap(merchantId => IN_PROGRESS.map(status => keys.byStatus(partition, merchantId, status)))
      const inProgress = await membersOf(redis, indexes)
      const waiting = await inFlight(redis, partition, await withoutCommand(redis, partition, inProgress))
      const still = await inFlight(redis, partition, await withoutCommand(redis, partition, [...waiting.keys()]))
      const lost = [...still].filter(([paymentKey, { version }]) => waiting.get(paymentKey)?.version === version)
      return await Promise.all(
        lost.map(async ([paymentKey, { terms }]) => {
          const wakesAt = await redis.zscore(keys.reconcile(partition), paymentKey)
          return { paymentId: terms.id, wakesAtMs: wakesAt === null ? null : Number(wakesAt) }
        })
      )
    })
  )
  return found.flat().sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1))
}

async function membersOf(redis: Redis, indexes: readonly string[]): Promise<string[]> {
  const members: string[] = []
  for (let from = 0; from < indexes.length; from += INDEXES_AT_ONCE) {
    const some = indexes.slice(from, from + INDEXES_AT_ONCE)
    members.push(...(await Promise.all(some.map(index => redis.zrange(index, '0', '-1')))).flat())
  }
  return members
}

/** Those of `paymentKeys` of which no command is in the stream. */
async function withoutCommand(redis: Redis, partition: number, paymentKeys: readonly string[]): Promise<string[]> {
  const missing = new Set(paymentKeys)
  if (missing.size > 0) for await (const { paymentKey } of commandsIn(redis, partition)) missing.delete(paymentKey)
  return [...missing]
}

/** Those of `paymentKeys` that wait for the outcome of their call. A damaged record is told elsewhere. */
async function inFlight(
  redis: Redis,
  partition: number,
  paymentKeys: readonly string[]
): Promise<ReadonlyMap<string, Payment>> {
  const stored = await Promise.all(paymentKeys.map(paymentKey => redis.get(keys.payment(partition, paymentKey))))
  return new Map(
    paymentKeys.flatMap((paymentKey, index) => {
      const [payment] = readable(stored[index] ?? '', text => decodePayment(text, paymentKey))
      return payment !== undefined && isInFlight(payment.progress) ? [[paymentKey, payment] as const] : []
    })
  )
}
