/** The parts of the command path with their figures: each wrapper does what the part does, and counts it. */

import type { ReplyListener } from '../../redis/commands/replies.js'
import type { RateLimiter } from '../../redis/merchants/rate-limit.js'
import type { Acceptance, PaymentStore } from '../../redis/payments/payments.js'
import type { TokenStore } from '../../redis/tokens/tokens.js'
import { timed } from '../../runtime/metrics.js'
import { recordStep } from '../../runtime/tracing.js'
import type { ApiMetrics } from '../http/api-metrics.js'

/** Counts acceptances and how long they take. */
export function meterStore(store: PaymentStore, metrics: ApiMetrics): PaymentStore {
  const tell =
    (operation: 'create' | 'operation', { traceparent }: Acceptance) =>
    (outcome: string, ms: number): void => {
      metrics.accepted(operation, outcome, ms)
      recordStep('accept', traceparent, ms, { attributes: { outcome } })
    }
  return {
    ...store,
    acceptPayment: (payment, command, acceptance, retentionMs) =>
      timed(
        () => store.acceptPayment(payment, command, acceptance, retentionMs),
        earlier => (earlier === null ? 'accepted' : 'earlier'),
        tell('create', acceptance)
      ),
    acceptOperation: (operation, acceptance, retentionMs) =>
      timed(
        () => store.acceptOperation(operation, acceptance, retentionMs),
        ({ kind }) => kind,
        tell('operation', acceptance)
      )
  }
}

/** Counts how waiting ended, and how long a result was on its way back. */
export function meterReplies(replies: ReplyListener, metrics: ApiMetrics): ReplyListener {
  return {
    channel: replies.channel,
    stopWaiting: () => replies.stopWaiting(),
    expect: commandId => {
      const expected = replies.expect(commandId)
      return {
        dispose: expected.dispose,
        within: async waitMs => {
          const startedMs = performance.now()
          const reply = await expected.within(waitMs)
          const waitedMs = performance.now() - startedMs
          const times = reply?.times ?? null
          // The clock of Redis is behind `queueMs`: the difference may come out below nothing.
          const lateMs = times === null ? null : Math.max(0, waitedMs - times.queueMs - times.workMs)
          metrics.waited(reply?.kind ?? 'none', waitedMs, lateMs)
          return reply
        }
      }
    }
  }
}

/** Counts claims that were refused. */
export function meterTokens(tokens: TokenStore, metrics: ApiMetrics): TokenStore {
  return {
    ...tokens,
    claim: async (tokenId, merchantId, owner, request) => {
      const claim = await tokens.claim(tokenId, merchantId, owner, request)
      if (claim.kind !== 'claimed') metrics.claimRefused(claim.kind)
      return claim
    }
  }
}

/** Counts requests that were too many. */
export function meterLimiter(limiter: RateLimiter | null, metrics: ApiMetrics): RateLimiter | null {
  if (limiter === null) return null
  return {
    ...limiter,
    take: async (name, reserve) => {
      const grant = await limiter.take(name, reserve)
      if (grant?.isAllowed === false) metrics.rateLimited()
      return grant
    }
  }
}
