/** Whether the memory-only Redis, or a replica of it, writes card data to a disk. */
import { Redis as Single } from 'ioredis'
import type { HostPort } from '../../runtime/redis-address.js'
import { withTimeout } from '../../runtime/with-timeout.js'
import { reasonOf } from '../connection/redis-errors.js'
import {
  brokenBy,
  evictionCondition,
  memoryOnlyConditions,
  readSettings,
  replicationConditions,
  SNAPSHOTS
} from './conditions.js'
import { replicasOf } from './replicas.js'

/** What was found: a sentence about writing to a disk, and sentences about replicas that could not be asked, and about eviction. */
export interface DiskUse {
  readonly problem: string | undefined
  readonly warning: string | undefined
}

/** /readyz must not wait for a server that is silent: probes give up after a second. */
const ANSWER_MAX_MS = 500

/** An answer of the memory-only Redis. Rejects with `NoAnswerInTime` while it is silent. */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  return await withTimeout(ANSWER_MAX_MS, answer)
}

/** Rejects when the server of `redis` does not answer, or refuses to tell. */
export async function diskUseOf(redis: Single): Promise<DiskUse> {
  const { faults, unasked, evicting } = await askServer(redis, '')
  const warnings = [
    unasked.length > 0 &&
      `Replicas of SECRETS_REDIS_URL could not be asked whether they persist: ${unasked.join(', ')}. Processes must reach them with the login of SECRETS_REDIS_URL.`,
    evicting !== undefined &&
      `The Redis of SECRETS_REDIS_URL may evict one-use tokens, CVVs and locks: maxmemory-policy is ${evicting}; set noeviction.`
  ].filter(sentence => sentence !== false)
  return {
    problem: faults.length === 0 ? undefined : `The Redis of SECRETS_REDIS_URL must not persist: ${faults.join('; ')}.`,
    warning: warnings.length === 0 ? undefined : warnings.join(' ')
  }
}

interface Answers {
  readonly faults: readonly string[]
  readonly unasked: readonly string[]
  /** The policy, where it is one that evicts. */
  readonly evicting?: string | undefined
}

/** A server and, through them, all replicas behind it. `name`: of a replica, for sentences. */
async function askServer(redis: Single, name: string): Promise<Answers> {
  const [replicas, settings] = await inTime(Promise.all([replicasOf(redis), readSettings(redis)]))
  const isReplicated = replicas.length > 0 || name !== '' || redis.options.sentinels?.length
  const wanted = isReplicated ? [...memoryOnlyConditions, ...replicationConditions] : memoryOnlyConditions
  const faults = brokenBy(settings, wanted).map(({ setting, value, allowed: [first] }) => {
    const server = name === '' ? '' : `replica ${name}: `
    return setting === SNAPSHOTS
      ? `${server}it has written a snapshot (${SNAPSHOTS} is ${value}): delete the file, set save to "", then CONFIG RESETSTAT`
      : `${server}${setting} is "${value}", set it to "${first}"`
  })
  const behind = await Promise.all(replicas.map(replica => askReplica(redis, replica)))
  return {
    evicting: brokenBy(settings, [evictionCondition])[0]?.value,
    faults: [...faults, ...behind.flatMap(answers => answers.faults)],
    unasked: behind.flatMap(answers => answers.unasked)
  }
}

async function askReplica(master: Single, { host, port }: HostPort): Promise<Answers> {
  const { sentinels: _, name: __, ...login } = master.options
  const own = { host, port, lazyConnect: true, retryStrategy: () => null, replyMapping: 'legacy' } as const
  const replica = new Single({ ...login, ...own })
  // The command is rejected with the same error.
  replica.on('error', () => undefined)
  try {
    await inTime(replica.connect())
    return await askServer(replica, `${host}:${port}`)
  } catch (error) {
    return { faults: [], unasked: [`${host}:${port} (${reasonOf(error)})`] }
  } finally {
    replica.disconnect()
  }
}
