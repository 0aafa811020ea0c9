/**
 * The servers that hold the locks of payments: the memory-only Redis, unless `REDLOCK_URLS` names other ones.
 *
 * Redlock needs a majority of them. So a process starts when a majority answers, and the client of each other one goes
 * on connecting in the background.
 */
import type { Config } from '../runtime/config.js'
import { delay } from '../runtime/delay.js'
import type { ProcessContext } from '../runtime/lifecycle.js'
import { safeAddress } from '../runtime/redis-address.js'
import { connect, connectInBackground, disconnect, type Redis } from './connections.js'
import { reasonOf } from './errors.js'

const START_DEADLINE_MS = 10_000
const START_POLL_MS = 50

interface LockServer {
  readonly name: string
  readonly redis: Redis
}

/**
 * Connections for Redlock. /readyz tells a lost majority as a problem, and the loss of a minority as a warning. Rejects
 * when no majority answers within 10 s.
 */
export async function openLockServers(
  {
    config,
    log,
    onStop,
    onReadyCheck,
    onWarning
  }: Pick<ProcessContext, 'log' | 'onStop' | 'onReadyCheck' | 'onWarning'> & {
    readonly config: Pick<Config, 'redlockUrls' | 'secretsRedisUrl'>
  },
  startDeadlineMs = START_DEADLINE_MS
): Promise<readonly Redis[]> {
  if (config.redlockUrls.length === 0) {
    // The check `memory-only redis` speaks of this server.
    const redis = await connect(config.secretsRedisUrl, 'lock', log, 'SECRETS_REDIS_URL')
    onStop('locks', () => disconnect(redis))
    return [redis]
  }
  const servers = config.redlockUrls.map(url => ({
    name: safeAddress(url),
    redis: connectInBackground(url, 'lock', log, 'REDLOCK_URLS')
  }))
  for (const { redis } of servers) onStop('locks', () => disconnect(redis))
  await untilMajority(servers, startDeadlineMs)
  onReadyCheck('locks', async () => {
    const silent = await silentOf(servers)
    return hasMajority(servers, silent) ? undefined : lostMajority(servers, silent)
  })
  onWarning('locks', async () => {
    const silent = await silentOf(servers)
    if (silent.length === 0 || !hasMajority(servers, silent)) return undefined
    return `${silent.length} of the ${servers.length} servers of REDLOCK_URLS do not answer: ${silent.join(', ')}. The others hold the locks. Start them again.`
  })
  return servers.map(({ redis }) => redis)
}

async function untilMajority(servers: readonly LockServer[], deadlineMs: number): Promise<void> {
  const endMs = performance.now() + deadlineMs
  while (true) {
    const silent = await silentOf(servers)
    if (hasMajority(servers, silent)) return
    if (performance.now() > endMs) throw new Error(lostMajority(servers, silent))
    await delay(START_POLL_MS)
  }
}

function hasMajority(servers: readonly LockServer[], silent: readonly string[]): boolean {
  return silent.length < servers.length / 2
}

function lostMajority(servers: readonly LockServer[], silent: readonly string[]): string {
  return `${silent.length} of the ${servers.length} servers of REDLOCK_URLS do not answer: ${silent.join(', ')}. Locks need a majority, so no payment is worked on. Start them again.`
}

/** Those that do not answer a PING, each with the reason. */
async function silentOf(servers: readonly LockServer[]): Promise<string[]> {
  const found = servers.map(({ name, redis }) =>
    redis.ping().then(
      () => [],
      (error: unknown) => [`${name} (${reasonOf(error)})`]
    )
  )
  return (await Promise.all(found)).flat()
}
