/** Metrics of the HTTP processes: requests, acceptances, waits for results, and refused requests. */
import { Counter, Histogram, type Registry, register } from 'prom-client'
import type { Reply } from '../../redis/commands/replies.js'
import { publishFigures, STEP_BUCKETS_S } from '../../runtime/metrics.js'

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
  const registers = [registry]
  const requests = new Histogram({
    name: 'card_payments_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer, by method, route and status. Never by path, which holds ids.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: REQUEST_BUCKETS_S,
    registers
  })
  const acceptances = new Histogram({
    name: 'card_payments_accept_seconds',
    help: 'Step accept: time to make a request durable. `outcome`: accepted, earlier (its key was known), not_found, failed.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: STEP_BUCKETS_S,
    registers
  })
  const waits = new Histogram({
    name: 'card_payments_result_wait_seconds',
    help: 'Time from the acceptance to the result. `outcome`: ended, open (the network has not said), none (the wait was over first).',
    labelNames: ['outcome'] as const,
    buckets: REQUEST_BUCKETS_S,
    registers
  })
  const replies = new Histogram({
    name: 'card_payments_reply_seconds',
    help: 'Step reply: the last commit of a command and the way of its result from the worker to the waiting request.',
    buckets: STEP_BUCKETS_S,
    registers
  })
  const shed = new Counter({
    name: 'card_payments_http_requests_shed_total',
    help: 'Requests answered 503 at once: the process is full, a merchant has more than its share, or workers are behind (`backlog`).',
    labelNames: ['reason'] as const,
    registers
  })
  const limited = new Counter({
    name: 'card_payments_http_requests_rate_limited_total',
    help: 'Requests answered 429: above the rate of their API key.',
    registers
  })
  const refusedClaims = new Counter({
    name: 'card_payments_token_claims_refused_total',
    help: 'Tokens that could not be used: missing (unknown, expired, of another merchant) or taken (used before).',
    labelNames: ['reason'] as const,
    registers
  })
  return {
    answered(request: { method: string; route: string; status: number }, durationMs: number): void {
      requests.observe(request, durationMs / 1_000)
    },
    accepted(operation: 'create' | 'operation', outcome: string, durationMs: number): void {
      acceptances.observe({ operation, outcome }, durationMs / 1_000)
    },
    /** `reply` null: the wait ended without one. */
    waited(reply: Pick<Reply, 'kind' | 'times'> | null, waitedMs: number): void {
      waits.observe({ outcome: reply?.kind ?? 'none' }, waitedMs / 1_000)
      const times = reply?.times ?? null
      // `queueMs` is measured by the clock of Redis, so that the difference may be negative.
      if (times !== null) replies.observe(Math.max(0, waitedMs - times.queueMs - times.workMs) / 1_000)
    },
    shed: (reason: ShedReason): void => shed.inc({ reason }),
    rateLimited: (): void => limited.inc(),
    claimRefused: (reason: 'missing' | 'taken'): void => refusedClaims.inc({ reason })
  }
}

/** Registers the gauges of the admission. */
export function publishAdmission(registry: Registry, read: () => { inFlight: number; merchants: number }): void {
  publishFigures(registry, async () => read(), [
    {
      name: 'card_payments_http_requests_in_flight',
      help: 'Requests of known merchants that are being worked on; MAX_IN_FLIGHT bounds it.',
      pick: now => now.inFlight
    },
    {
      name: 'card_payments_merchants_in_flight',
      help: 'Merchants with a request that is being worked on.',
      pick: now => now.merchants
    }
  ])
}
