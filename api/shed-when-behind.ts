/** New payments are refused while the workers of their partition are behind: they would only be answered 202. */
import type { Backlog } from '../redis/backlog.js'
import { partitionOf } from '../redis/keys.js'
import type { ApiMetrics } from './metrics.js'
import { overloaded } from './middleware/admit.js'
import type { Payments } from './payments-port.js'

/**
 * Captures and cancels go on: they concern money that is already on its way. `maxAgeMs`: how long the oldest command of
 * a partition may have waited for a worker.
 */
export function shedWhenBehind(
  payments: Payments,
  options: { backlog: Pick<Backlog, 'ageMs'>; partitions: number; maxAgeMs: number; metrics: ApiMetrics }
): Payments {
  const { backlog, partitions, maxAgeMs, metrics } = options
  return {
    ...payments,
    create: async (scope, request) => {
      if (backlog.ageMs(partitionOf(scope.merchantId, partitions)) > maxAgeMs) {
        metrics.shed('backlog')
        throw overloaded()
      }
      return await payments.create(scope, request)
    }
  }
}
