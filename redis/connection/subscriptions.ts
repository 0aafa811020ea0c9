/**
 * Subscriptions that last as long as their client.
 *
 * A server may refuse a channel after a reconnect, because its ACL is loaded late; the connection that a Cluster client
 * subscribes with may vanish without a sign. SUBSCRIBE to a known channel changes nothing, so it is repeated: it brings back
 * what was lost, and shows a connection that has gone silent.
 */
import { Cluster, type Redis as Single } from 'ioredis'

const AGAIN_MS = 2_000
/** Turns without an answer before the client of a Cluster connects anew; other clients watch their one connection themselves. */
const UNANSWERED_MAX = 2

/** Repeats every subscription of this client. Returns the function that stops it. */
export function keepSubscribed(redis: Single | Cluster): () => void {
  const channels = new Set<string>()
  const subscribe: (...names: string[]) => Promise<unknown> = redis.subscribe.bind(redis)
  redis.subscribe = ((...names: string[]) => {
    for (const name of names) channels.add(name)
    return subscribe(...names)
  }) as typeof redis.subscribe
  let isAsked = false
  let unanswered = 0
  const again = (): void => {
    if (channels.size === 0 || redis.status !== 'ready') return
    if (!isAsked) {
      isAsked = true
      unanswered = 0
      const answered = (): void => {
        isAsked = false
      }
      subscribe(...channels).then(answered, answered)
    } else if (++unanswered === UNANSWERED_MAX && redis instanceof Cluster) redis.disconnect(true)
  }
  const timer = setInterval(again, AGAIN_MS).unref()
  redis.on('ready', again)
  return () => clearInterval(timer)
}
