import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type LiveFeed, startLiveFeed } from '../../../scripts/inspector/live.js'
import { startRedis } from '../../../scripts/start/embedded-redis.js'
import type { EmbeddedServer } from '../../../scripts/start/embedded-server.js'
import { freePort } from '../../../scripts/start/ports.js'
import { obtainRedis } from '../../../scripts/start/redis-binary.js'
import { until } from '../../support/conditions.js'

describe('the connection of the inspector', () => {
  let dir = ''
  let server: EmbeddedServer | undefined
  let feed: LiveFeed | undefined
  after(async () => {
    await feed?.stop()
    await server?.process.stop(2_000)
    await rm(dir, { recursive: true, force: true })
  })

  it('reports when Redis is unavailable, and when it is back', async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-live-'))
    const port = await freePort()
    const start = async (): Promise<EmbeddedServer> => {
      const binary = await obtainRedis(resolve('.vendor'), () => undefined)
      return startRedis({ kind: 'redis', binary, port, dir, onOutput: () => undefined })
    }
    const says = (words: string): Promise<unknown> => until(words, () => feed?.status().includes(words) ?? false)

    server = await start()
    const { url } = server
    feed = startLiveFeed(
      async () => url,
      () => undefined
    )
    await says('Connected to Redis')
    await server.process.stop(2_000)
    await says('does not answer; reconnecting')
    server = await start()
    await says('Connected to Redis')

    // Ctrl-C while Redis is unavailable does not wait for it.
    await server.process.stop(2_000)
    await says('does not answer; reconnecting')
    await feed.stop()
    feed = undefined
    server = undefined
  })
})
