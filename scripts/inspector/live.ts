/** The connection to a running service: tried until it succeeds; after that the Redis client reconnects. */
import { connect } from '../../redis/connection/connections.js'
import { type ObservedDecision, watchDecisions } from '../../redis/operator/inspection.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { safeAddress } from '../../runtime/redis-address.js'

export interface LiveFeed {
  /** Sentence about the connection. */
  status(): string
  stop(): Promise<void>
}

const RETRY_MS = 1_000
const STOP_WAIT_MS = 300
const LOST = 'Redis does not answer; reconnecting. What-if works without it.'

interface Connected {
  /** False while the server is unavailable; the client reconnects. */
  isReady(): boolean
  stop(): Promise<void>
}

/** `address` is called before each attempt, because `npm start` may choose another port. Never rejects. */
export function startLiveFeed(
  address: () => Promise<string>,
  onDecision: (decision: ObservedDecision) => void
): LiveFeed {
  const stopping = new AbortController()
  let status = 'Connecting to the service ...'
  let connected: Connected | undefined
  const connecting = (async () => {
    while (!stopping.signal.aborted && connected === undefined) {
      try {
        const url = await address()
        status = `Connecting: Redis at ${safeAddress(url)} does not answer. What-if works without it.`
        const connection = await connectTo(url, onDecision)
        if (stopping.signal.aborted) return await connection.stop()
        connected = connection
        status = `Connected to Redis at ${safeAddress(url)}.`
      } catch {
        await delay(RETRY_MS, stopping.signal)
      }
    }
  })()
  return {
    status: () => (connected === undefined || connected.isReady() ? status : LOST),
    async stop() {
      stopping.abort()
      // Does not wait for a server that does not answer. A connection that succeeds later is closed at once.
      await Promise.race([connecting, delay(STOP_WAIT_MS)])
      await connected?.stop()
    }
  }
}

async function connectTo(url: string, onDecision: (decision: ObservedDecision) => void): Promise<Connected> {
  const log = createLogger('inspect', 'silent')
  const redis = await connect(url, 'commands', log)
  const subscriber = await connect(url, 'subscriber', log)
  const watch = await watchDecisions(redis, subscriber, onDecision)
  return {
    isReady: () => redis.status === 'ready',
    async stop() {
      await Promise.race([watch.stop().catch(() => undefined), delay(STOP_WAIT_MS)])
      // disconnect, not quit: quit would wait until an unavailable server is back.
      for (const connection of [redis, subscriber]) connection.disconnect()
    }
  }
}
