/** The whole inspector: a server, the payments that were seen, and the feed from a running service. */
import { startLiveFeed } from './live.js'
import { startInspectorServer } from './server.js'
import { createSessions } from './sessions.js'

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
  const sessions = createSessions()
  const server = await startInspectorServer({
    port,
    replay: sessions.replay,
    status: () => feed.status()
  })
  const feed = startLiveFeed(redisAddress, decision => server.send(sessions.observe(decision)))
  return {
    url: server.url,
    async stop() {
      await feed.stop()
      await server.stop()
    }
  }
}
