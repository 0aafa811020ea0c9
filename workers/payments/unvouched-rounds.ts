/**
 * Compares the open payments of unvouched data with the acquirer's record. After the last one, the data is treated as usual again
 * (decision 31).
 */
import { isCompared } from '../../machines/payment/unvouched.js'
import type { Writes } from '../../redis/connection/writes.js'
import {
  endUnvouched,
  forgetCompared,
  someUnvouched,
  wakeUnvouched
} from '../../redis/installation/unvouched-payments.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

/** How often the payments that are left are looked at (ms). */
const ROUND_EVERY_MS = 2_000

/** Looks until `stopping` aborts. `unvouched`: the partitions whose data is not vouched for. */
export async function repeatUnvouchedRounds(
  deps: WorkerDeps,
  writes: Writes,
  unvouched: () => readonly number[],
  stopping: AbortSignal
): Promise<void> {
  while (!stopping.aborted) {
    await delay(ROUND_EVERY_MS, stopping)
    for (const partition of stopping.aborted ? [] : unvouched()) {
      await unvouchedRound(deps, writes, partition).catch((error: unknown) =>
        warnRateLimited(deps.log, { err: error }, 'open payments could not be looked at')
      )
    }
  }
}

async function unvouchedRound(deps: WorkerDeps, writes: Writes, partition: number): Promise<void> {
  const some = await someUnvouched(writes, partition)
  if (some.length === 0) return await endUnvouched(writes, partition)
  const policy = policyFor(partition, deps)
  const payments = await Promise.all(
    some.map(async paymentKey => ({ paymentKey, payment: await deps.payments.load(partition, paymentKey) }))
  )
  const isDone = ({ payment }: (typeof payments)[number]): boolean => payment === null || isCompared(payment, policy)
  const keysOf = (some: typeof payments): string[] => some.map(({ paymentKey }) => paymentKey)
  await forgetCompared(writes, partition, keysOf(payments.filter(isDone)))
  const open = keysOf(payments.filter(payment => !isDone(payment)))
  if (!deps.clock.isApart()) await wakeUnvouched(writes, partition, open, deps.clock.now())
}
