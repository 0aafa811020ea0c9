/** Metrics of the HTTP processes: requests, and those that were shed. */
import { type Registry, register } from 'prom-client'
import { metricsIn } from '../../runtime/metrics.js'

/** Why a request was shed: answered 503 before any work was done for it. */
export type ShedReason = 'full' | 'merchant_share' | 'backlog'

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

type ApiMetrics = ReturnType<typeof createApiMetrics>

let processMetrics: ApiMetrics | undefined

/** The metrics of this process, in the register that /metrics exports. */
export function apiMetrics(): ApiMetrics {
  processMetrics ??= createApiMetrics(register)
  return processMetrics
}

/** Registers the metrics; once per register. */
export function createApiMetrics(registry: Registry) {
  const { counterBy, duration } = metricsIn(registry)
  return {
    answered: duration(
      'card_payments_http_request_duration_seconds',
      'Time from the arrival of a request to its answer.',
      REQUEST_BUCKETS_S,
      ...(['method', 'route', 'status'] as const)
    ),
    shed: counterBy<ShedReason>(
      'card_payments_http_requests_shed_total',
      'Requests answered 503 at once, by `reason` (docs/OPERATIONS.md, ServerErrors).',
      'reason'
    )
  }
}
