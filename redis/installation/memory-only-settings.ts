/**
 * Which settings let the memory-only Redis, or a replica of it, write card data to a disk.
 *
 * `save` and `appendonly` persist. Replication writes too: a master without `repl-diskless-sync` makes a snapshot on its
 * disk for each full synchronisation, and a replica stores what it receives unless `repl-diskless-load` is `swapdb`
 * (Valkey also has `flush-before-load`). `on-empty-db` is not enough: a replica that synchronises again is not empty.
 * After a failover each server may have either role, so both settings are wanted of all servers.
 */
import { Redis as Single } from 'ioredis'
import { reasonOf } from '../connection/redis-errors.js'

/** What was found: a sentence about writing to a disk, and sentences about replicas that could not be asked, and about eviction. */
export interface DiskUse {
  readonly problem: string | undefined
  readonly warning: string | undefined
}

/** Values that write nothing. */
const alone = { save: [''], appendonly: ['no'] } as const
const replicated = {
  ...alone,
  'repl-diskless-sync': ['yes'],
  'repl-diskless-load': ['swapdb', 'flush-before-load']
} as const

const REPLICA = /^slave\d+:ip=([^,\r]+),port=(\d+)/gm

/** `limited` bounds each wait for a server. Rejects when the server of `redis` does not answer, or refuses to tell. */
export async function diskUseOf(redis: Single, limited: <T>(answer: Promise<T>) => Promise<T>): Promise<DiskUse> {
  const [{ faults, unasked }, policy] = await Promise.all([
    askServer(redis, limited, ''),
    limited(settingOf(redis, 'maxmemory-policy'))
  ])
  const warnings = [
    unasked.length > 0 &&
      `Replicas of SECRETS_REDIS_URL could not be asked whether they persist: ${unasked.join(', ')}. Processes must reach them with the login of SECRETS_REDIS_URL.`,
    policy !== 'noeviction' &&
      `The Redis of SECRETS_REDIS_URL may evict one-use tokens, CVVs and locks: maxmemory-policy is ${policy}; set noeviction.`
  ].filter(sentence => sentence !== false)
  return {
    problem: faults.length === 0 ? undefined : `The Redis of SECRETS_REDIS_URL must not persist: ${faults.join('; ')}.`,
    warning: warnings.length === 0 ? undefined : warnings.join(' ')
  }
}

interface Answers {
  readonly faults: readonly string[]
  readonly unasked: readonly string[]
}

/** A server and, through them, all replicas behind it. `name`: of a replica, for sentences. */
async function askServer(
  redis: Single,
  limited: <T>(answer: Promise<T>) => Promise<T>,
  name: string
): Promise<Answers> {
  const names = Object.keys(replicated)
  const [info, ...values] = await limited(
    Promise.all([redis.info('replication'), ...names.map(setting => settingOf(redis, setting))])
  )
  const replicas = [...info.matchAll(REPLICA)].map(([, host = '', port]) => ({ host, port: Number(port) }))
  const isReplicated = replicas.length > 0 || name !== '' || redis.options.sentinels?.length
  const wanted: Readonly<Record<string, readonly string[]>> = isReplicated ? replicated : alone
  const faults = names.flatMap((setting, index) => {
    const [value, allowed] = [values[index] ?? '', wanted[setting]]
    if (allowed === undefined || allowed.includes(value)) return []
    return [`${name === '' ? '' : `replica ${name}: `}${setting} is "${value}", set it to "${allowed[0]}"`]
  })
  const behind = await Promise.all(replicas.map(replica => askReplica(redis, replica, limited)))
  return {
    faults: [...faults, ...behind.flatMap(answers => answers.faults)],
    unasked: behind.flatMap(answers => answers.unasked)
  }
}

async function askReplica(
  master: Single,
  { host, port }: { host: string; port: number },
  limited: <T>(answer: Promise<T>) => Promise<T>
): Promise<Answers> {
  const { sentinels: _, name: __, ...login } = master.options
  const own = { host, port, lazyConnect: true, retryStrategy: () => null, replyMapping: 'legacy' } as const
  const replica = new Single({ ...login, ...own })
  // The command is rejected with the same error.
  replica.on('error', () => undefined)
  try {
    await limited(replica.connect())
    return await askServer(replica, limited, `${host}:${port}`)
  } catch (error) {
    return { faults: [], unasked: [`${host}:${port} (${reasonOf(error)})`] }
  } finally {
    replica.disconnect()
  }
}

async function settingOf(redis: Single, name: string): Promise<string> {
  const reply: unknown = await redis.config('GET', name)
  return Array.isArray(reply) ? String(reply[1] ?? '') : ''
}
