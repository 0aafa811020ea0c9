/**
 * The servers that hold the locks of payments: the memory-only Redis, unless `REDLOCK_URLS` names other ones.
 *
 * A process starts whether they answer or not, because payments are worked on without locks while no majority does
 * (decision 25).
 */
import type { Config } from '../../runtime/config.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { safeAddress } from '../../runtime/redis-address.js'
import { connectInBackground, disconnect, type Redis } from '../connection/connections.js'
import { reasonOf } from '../connection/redis-errors.js'

interface LockServer {
  readonly name: string
  readonly redis: Redis
}

/** Connections for Redlock. /readyz warns of servers of `REDLOCK_URLS` that do not answer. */
export function openLockServers({
  config,
  log,
  onStop,
  onWarning
}: Pick<ProcessContext, 'log' | 'onStop' | 'onWarning'> & {
  readonly config: Pick<Config, 'redlockUrls' | 'secretsRedisUrl'>
}): readonly Redis[] {
  const isOwn = config.redlockUrls.length > 0
  const servers = (isOwn ? config.redlockUrls : [config.secretsRedisUrl]).map(url => ({
    name: safeAddress(url),
    redis: connectInBackground(url, 'lock', log, isOwn ? 'REDLOCK_URLS' : 'SECRETS_REDIS_URL')
  }))
  for (const { redis } of servers) onStop('locks', () => disconnect(redis))
  // The warning `memory-only redis` covers the other case.
  if (isOwn) onWarning('locks', () => lockWarning(servers))
  return servers.map(({ redis }) => redis)
}

async function lockWarning(servers: readonly LockServer[]): Promise<string | undefined> {
  const silent = await silentOf(servers)
  if (silent.length === 0) return undefined
  const effect =
    silent.length < servers.length / 2
      ? 'The others hold the locks.'
      : 'Locks need a majority, so payments are worked on without locks.'
  return `${silent.length} of the ${servers.length} servers of REDLOCK_URLS do not answer: ${silent.join(', ')}. ${effect} Start them again.`
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
