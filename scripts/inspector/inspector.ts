/** The whole inspector: a server, the payments that were seen, and the feed from a running service. */
import { startLiveFeed } from './live.js'
import { createObservedPayments } from './observed-payments.js'
import { startInspectorServer } from './server.js'

export interface Inspector {
  readonly url: string
  stop(): Promise<void>
}

export interface InspectorSettings {
  /** 0 takes a free one. */
  readonly port: number
  /** URL of the durable Redis of the service, read before each attempt to connect. */
  readonly redisAddress: () => Promise<string>
}

export async function startInspector({ port, redisAddress }: InspectorSettings): Promise<Inspector> {
  const payments = createObservedPayments()
  const server = await startInspectorServer({
    port,
    replay: payments.all,
    status: () => feed.status()
  })
  const feed = startLiveFeed(redisAddress, decision => server.send(payments.observe(decision)))
  return {
    url: server.url,
    async stop() {
      await feed.stop()
      await server.stop()
    }
  }
}
