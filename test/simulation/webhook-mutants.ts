/** Mistakes about webhook events. They show in worlds, by the events that receivers have noted. */
import type { DeliveryDeps } from '../../workers/webhooks/deliver.js'
import { type Exchange, replace } from './exchange.js'

export const webhookMutants = {
  'dropped-webhook': {
    description: 'A webhook event that was not delivered has no time at which it is sent again.',
    script: replace("redis.call('ZADD', keys.line, given.dueMs, given.lineMember)", '')
  },
  'overtaken-webhook': {
    description: 'A webhook event that failed goes behind the later ones of its payment.',
    script: replace(
      "redis.call('LSET', keys.events, 0, given.retry)",
      "redis.call('RPUSH', keys.events, redis.call('LPOP', keys.events))"
    )
  },
  'no-delivery-fence': {
    description: 'A worker whose delivery was taken over, and concluded by another one, concludes the next event.',
    // Among all worlds it is one in a hundred: the next event must wait when the suspended worker goes on.
    showsSuspended: 'capture while the receiver of webhooks is away',
    script: lua =>
      lua
        .replace("redis.call('LINDEX', keys.events, 0) == given.event", 'true')
        .replace('given.entry) == 0 then\n  return -1\nend', 'given.entry) == 0 then\nend')
  },
  'webhook-concluded-before-sent': {
    description: 'A webhook event is noted as delivered before it is sent.',
    webhooks: deps => ({ ...deps, queue: concludingEarly(deps.queue) })
  },
  'forgotten-line': {
    description: 'A payment that waits for its endpoint is never looked at again.',
    script: replace("redis.call('ZADD', keys.lines, 'LT'", "redis.call('ZADD', 'nowhere', 'LT'")
  },
  'endless-pause': {
    description: 'An endpoint that is paused is never given a trial.',
    script: replace(
      'keys.deliveries, given.nowMs, given.max, given.trial)',
      'keys.deliveries, given.nowMs, given.trial and 0 or given.max)'
    )
  },
  'silence-is-delivery': {
    description: 'A webhook event that got no answer counts as delivered.',
    webhooks: deps => ({ ...deps, sender: { ...deps.sender, post: (...args) => answerAtAnyRate(deps, args) } })
  }
} as const satisfies Record<string, Exchange & { description: string; showsSuspended?: string }>

function concludingEarly(queue: DeliveryDeps['queue']): DeliveryDeps['queue'] {
  return {
    ...queue,
    first: async entry => {
      const first = await queue.first(entry)
      if (first === null) return null
      await queue.conclude(entry, first, {
        decide: failing => ({ event: 'delivered', failing }),
        attempt: null,
        room: 0
      })
      return first
    }
  }
}

async function answerAtAnyRate(
  { sender }: DeliveryDeps,
  args: Parameters<DeliveryDeps['sender']['post']>
): ReturnType<DeliveryDeps['sender']['post']> {
  const outcome = await sender.post(...args)
  return outcome.status !== null ? outcome : { status: 200, retryAfterMs: null, note: '' }
}
