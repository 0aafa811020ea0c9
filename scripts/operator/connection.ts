/** Which Redis an operator means: the one of `REDIS_URL`, or the one that `npm start` runs for this `DATA_DIR`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { readClockOffset } from '../../redis/connection/redis-clock.js'
import { claimInstallation, findInstallation, type Installation } from '../../redis/installation/installation.js'
import { type Config, isGiven, readConfig } from '../../runtime/config.js'
import { createLogger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'
import { REDIS_FILE } from '../start/data-dir.js'

/** What a command of an operator works with; `close` ends it. */
export interface OperatorConnection {
  readonly config: Config
  /** The durable Redis. */
  readonly redis: Redis
  close(): Promise<void>
}

/**
 * Connects, by `env` in place of the process's environment if given. The data says which environment it is and how many
 * partitions it has; SERVICE_ENV and PARTITIONS are compared where they are given, and needed where there is no data yet.
 * Rejects with a sentence that says which server did not answer and where its address came from.
 */
export async function connectionOf(env?: NodeJS.ProcessEnv): Promise<OperatorConnection> {
  const { url, origin } = await addressOf(readConfig(env, 'tools'), isGiven('REDIS_URL', env))
  const redis = await connect(url, 'commands', createLogger('operator', 'silent')).catch((error: unknown) => {
    throw new Error(`${messageOf(error)} (The address comes from ${origin}.)`)
  })
  const close = (): Promise<void> => disconnect(redis)
  try {
    const config = readConfig(env, 'operator', toldBy(await findInstallation(redis)))
    await claimInstallation(redis, config)
    return { config, redis, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the data itself says, in the place of defaults. */
export function toldBy(found: Installation | null): Record<string, string> {
  return found === null ? {} : { SERVICE_ENV: found.environment, PARTITIONS: String(found.partitions) }
}

/** The time by which the workers judge, the test clock included (ms). */
export async function serviceNowMs({ redis, config }: OperatorConnection): Promise<number> {
  return Date.now() + (config.environment === 'test' ? await readClockOffset(redis) : 0)
}

/** The address, and where it was found. */
export async function addressOf(
  config: Pick<Config, 'redisUrl' | 'dataDir'>,
  isUrlGiven: boolean
): Promise<{ url: string; origin: string }> {
  if (isUrlGiven) return { url: config.redisUrl, origin: 'REDIS_URL' }
  const file = join(config.dataDir, REDIS_FILE)
  const content = await readFile(file, 'utf8').catch(() => null)
  if (content === null) {
    return {
      url: config.redisUrl,
      origin: `the default: REDIS_URL is not set, and \`npm start\` has not written ${file}`
    }
  }
  return { url: readAddress(content, file), origin: `${file}, which \`npm start\` writes` }
}

function readAddress(content: string, file: string): string {
  try {
    const { redis_url: url }: { redis_url?: unknown } = JSON.parse(content)
    if (typeof url === 'string') return url
  } catch {
    // Told below, in the words of an operator.
  }
  throw new Error(`${file} cannot be read. Run \`npm start\` again, which writes it, or set REDIS_URL.`)
}
