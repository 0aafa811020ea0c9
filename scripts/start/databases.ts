/** The databases of the service: those of the environment, or embedded ones in the data directory. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, isGiven } from '../../runtime/config.js'
import { REDIS_FILE, readJson, writeJson } from './data-dir.js'
import { startPostgres } from './embedded-postgres.js'
import { type RedisKind, redisDir, startRedis, waitUntilUnused } from './embedded-redis.js'
import type { LineSink } from './output.js'
import { freePort, probePort } from './ports.js'
import { obtainPostgres } from './postgres-binary.js'
import type { Ending } from './process-group.js'
import { obtainRedis, type RedisBinary } from './redis-binary.js'
import type { Supervisor } from './supervisor.js'

export interface DatabaseUrls {
  readonly redisUrl: string
  readonly secretsRedisUrl: string
  /** Of the embedded PostgreSQL; absent: none runs, and the processes get the ARCHIVE_URL of `npm start`. */
  readonly archiveUrl?: string
}

/**
 * Starts the servers that `given` does not name (`REDIS_URL`, `SECRETS_REDIS_URL`, and `ARCHIVE_URL` where an archive runs
 * or ran before), adds them to the supervisor, and writes the addresses into the data directory. Takes the ports of the
 * last start when they are free, and not among `reservedPorts` of processes that start later.
 */
export async function startDatabases(options: {
  given: NodeJS.ProcessEnv
  /** What `given` means, also where it names files. */
  config: Pick<Config, 'redisUrl' | 'secretsRedisUrl'>
  dataDir: string
  isArchiveAsked: boolean
  reservedPorts: ReadonlySet<number>
  vendorDir: string
  supervisor: Supervisor
  sinkOf: (name: string) => LineSink
  onEnd: (name: string, ending: Ending, pauseMs: number) => void
}): Promise<DatabaseUrls> {
  const { given, config, dataDir, reservedPorts, supervisor } = options
  const before = await readJson(dataDir, REDIS_FILE)
  const say = (line: string): void => options.sinkOf('start')(`${line}\n`)
  let binary: RedisBinary | undefined

  const embed = async (kind: RedisKind, oldUrl: unknown): Promise<string> => {
    binary ??= await obtainRedis(options.vendorDir, say)
    const dir = redisDir(dataDir, kind)
    // After the supervisor was killed, the server of an earlier start may still use the same files.
    const oldPort = portOf(oldUrl)
    if (oldPort !== 0) await waitUntilUnused(dir, oldPort)
    const server = await startRedis({
      kind,
      binary,
      dir,
      port: await portFor(oldPort, reservedPorts),
      onOutput: options.sinkOf(kind),
      onEnd: (ending, pauseMs) => options.onEnd(kind, ending, pauseMs)
    })
    await supervisor.add('redis', server.process)
    return server.url
  }
  const embedPostgres = async (dir: string): Promise<string> => {
    const server = await startPostgres({
      binary: await obtainPostgres(options.vendorDir, say),
      dir,
      port: await portFor(portOf(before?.['archive_url']), reservedPorts),
      onOutput: options.sinkOf('postgres'),
      onEnd: (ending, pauseMs) => options.onEnd('postgres', ending, pauseMs)
    })
    await supervisor.add('redis', server.process)
    return server.url
  }
  const redisUrl = isGiven('REDIS_URL', given) ? config.redisUrl : await embed('redis', before?.['redis_url'])
  const secretsRedisUrl = isGiven('SECRETS_REDIS_URL', given)
    ? config.secretsRedisUrl
    : await embed('secrets-redis', before?.['secrets_redis_url'])
  // Payments that an earlier start archived stay readable without the process `archive`.
  const archiveDir = join(dataDir, 'postgres')
  const isEmbedded = !isGiven('ARCHIVE_URL', given) && (options.isArchiveAsked || existsSync(archiveDir))
  const archiveUrl = isEmbedded ? await embedPostgres(archiveDir) : undefined
  await writeJson(dataDir, REDIS_FILE, {
    redis_url: redisUrl,
    secrets_redis_url: secretsRedisUrl,
    archive_url: archiveUrl
  })
  return { redisUrl, secretsRedisUrl, ...(archiveUrl === undefined ? {} : { archiveUrl }) }
}

/** 0 when it is no address of this machine. */
function portOf(url: unknown): number {
  return Number(/^\w+:\/\/(?:.*@)?127\.0\.0\.1:(\d+)/.exec(String(url))?.[1] ?? 0)
}

async function portFor(oldPort: number, reservedPorts: ReadonlySet<number>): Promise<number> {
  const isWanted = oldPort !== 0 && !reservedPorts.has(oldPort)
  return (isWanted ? await probePort(oldPort, '127.0.0.1') : undefined) ?? (await freePort())
}

/** Where fetched programs are kept: beside the sources, for all starts of this checkout. */
export function vendorDir(root: string): string {
  return join(root, '.vendor')
}
