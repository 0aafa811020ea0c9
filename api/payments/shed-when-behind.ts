/** New payments are refused while the workers of their partition are behind: they would only be answered 202. */
import type { Backlog } from '../../redis/commands/backlog.js'
import { idempotencyRecord, partitionOf } from '../../redis/keys.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import type { ApiMetrics } from '../http/api-metrics.js'
import { overloaded } from '../http/middleware/admit.js'
import type { Payments } from './payments-port.js'

/**
 * Captures and cancels go on: they concern money that is already on its way. So do repeats of a request that was
 * accepted: they ask for an answer, and begin nothing. `maxAgeMs`: how long the oldest command of a partition may have
 * waited for a worker.
 */
export function shedWhenBehind(
  payments: Payments,
  options: {
    backlog: Pick<Backlog, 'ageMs'>
    store: Pick<PaymentStore, 'readIdempotency'>
    partitions: number
    maxAgeMs: number
    metrics: ApiMetrics
  }
): Payments {
  const { backlog, store, partitions, maxAgeMs, metrics } = options
  return {
    ...payments,
    create: async (scope, request) => {
      const { merchantId, idempotencyKey } = scope
      const partition = partitionOf(merchantId, partitions)
      const isBehind = backlog.ageMs(partition) > maxAgeMs
      // The record is read only now: while all is well, the acceptance itself finds it.
      if (
        isBehind &&
        (await store.readIdempotency(partition, idempotencyRecord(merchantId, idempotencyKey))) === null
      ) {
        metrics.shed('backlog')
        throw overloaded()
      }
      return await payments.create(scope, request)
    }
  }
}
