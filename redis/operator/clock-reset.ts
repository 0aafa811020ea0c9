/** What the test clock leaves behind when it is set back: queries that are due by a time that is still to come. */
import type { PaymentProgress } from '../../machines/model.js'
import { encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, partitionNumbers, paymentIdOfKey } from '../keys.js'
import type { PaymentStore } from '../payments/payments.js'

/** Payments that one look wakes at most in each partition. */
const WOKEN_MAX = 500

/**
 * Wakes each payment whose doubt or notification began while the clock was ahead. The query runs at the payment's own due
 * time, so the next one may be ahead again: repeat this until it returns 0. `nowMs`: the time of the service.
 */
export async function wakeLeftAhead(
  redis: Redis,
  payments: Pick<PaymentStore, 'load'>,
  partitions: number,
  nowMs: number
): Promise<number> {
  let woken = 0
  for (const partition of partitionNumbers(partitions)) {
    const due = await redis.zrangebyscore(
      keys.reconcile(partition),
      `(${nowMs}`,
      '+inf',
      'WITHSCORES',
      'LIMIT',
      0,
      WOKEN_MAX
    )
    for (const [paymentKey, score] of fieldsOf(due)) {
      const payment = await payments.load(partition, paymentKey)
      if (payment === null || !isBegunAfter(payment.progress, nowMs)) continue
      const wake = encodeServiceCommand(paymentIdOfKey(paymentKey), { kind: 'wake' }, Number(score))
      await redis.xadd(keys.commands(partition), '*', ...wake)
      woken++
    }
  }
  return woken
}

function isBegunAfter({ reconciliation, verification }: PaymentProgress, nowMs: number): boolean {
  return Math.max(reconciliation?.sinceMs ?? 0, verification?.sinceMs ?? 0) > nowMs
}
