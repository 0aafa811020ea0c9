/** The two Redis of the service: those that the environment names, or embedded ones in the data directory. */
import { join } from 'node:path'
import { REDIS_FILE, readJson, writeJson } from './data-dir.js'
import { type RedisKind, redisDir, startRedis, waitUntilUnused } from './embedded-redis.js'
import type { LineSink } from './output.js'
import { freePort, probePort } from './ports.js'
import type { Ending } from './process-group.js'
import { obtainRedis, type RedisBinary } from './redis-binary.js'
import type { Supervisor } from './supervisor.js'

export interface RedisUrls {
  readonly redisUrl: string
  readonly secretsRedisUrl: string
}

/**
 * Starts what `given` does not name (`REDIS_URL`, `SECRETS_REDIS_URL`), adds it to the supervisor, and writes both
 * addresses into `DATA_DIR/redis.json`. A port of the last start is taken again when it is free, and not among
 * `reservedPorts`: those of processes that are started later.
 */
export async function startRedisPair(options: {
  given: NodeJS.ProcessEnv
  dataDir: string
  reservedPorts: ReadonlySet<number>
  vendorDir: string
  supervisor: Supervisor
  sinkOf: (name: string) => LineSink
  onEnd: (name: string, ending: Ending, pauseMs: number) => void
}): Promise<RedisUrls> {
  const { given, dataDir, reservedPorts, supervisor } = options
  const before = await readJson(dataDir, REDIS_FILE)
  let binary: RedisBinary | undefined

  const embed = async (kind: RedisKind, oldUrl: unknown): Promise<string> => {
    binary ??= await obtainRedis(options.vendorDir, line => options.sinkOf('start')(`${line}\n`))
    const dir = redisDir(dataDir, kind)
    const server = await startRedis({
      kind,
      binary,
      dir,
      port: await portFor(dir, oldUrl, reservedPorts),
      onOutput: options.sinkOf(kind),
      onEnd: (ending, pauseMs) => options.onEnd(kind, ending, pauseMs)
    })
    await supervisor.add('redis', server.process)
    return server.url
  }
  const urls = {
    redisUrl: given['REDIS_URL'] || (await embed('redis', before?.['redis_url'])),
    secretsRedisUrl: given['SECRETS_REDIS_URL'] || (await embed('secrets-redis', before?.['secrets_redis_url']))
  }
  await writeJson(dataDir, REDIS_FILE, { redis_url: urls.redisUrl, secrets_redis_url: urls.secretsRedisUrl })
  return urls
}

/** Rejects while a server of an earlier start, whose supervisor was killed, still works on the same files. */
async function portFor(dir: string, oldUrl: unknown, reservedPorts: ReadonlySet<number>): Promise<number> {
  const oldPort = Number(/^redis:\/\/127\.0\.0\.1:(\d+)$/.exec(String(oldUrl))?.[1] ?? 0)
  if (oldPort === 0) return freePort()
  await waitUntilUnused(dir, oldPort)
  if (reservedPorts.has(oldPort)) return freePort()
  return (await probePort(oldPort, '127.0.0.1')) ?? (await freePort())
}

/** Where a fetched server is kept: beside the sources, for all starts of this checkout. */
export function vendorDir(root: string): string {
  return join(root, '.vendor')
}
