/** What must be true of the durable Redis before a process may work with it: its partitions and its durability. */
import type { Config } from '../runtime/config.js'
import type { ProcessContext } from '../runtime/lifecycle.js'
import { mastersOf } from './cluster-nodes.js'
import { connect, disconnect, type Redis } from './connections.js'
import { reasonOf } from './errors.js'
import { keys } from './keys.js'
import { requirePermissions } from './permissions.js'
import { openWrites, type Writes } from './writes.js'

/**
 * The durable Redis of a process that tells others "it is written down": its connection and its writes, once partitions
 * and durability are proved. Both are closed at its stop.
 */
export async function openDurable(
  context: ProcessContext
): Promise<{ readonly durable: Redis; readonly writes: Writes }> {
  const { config, log, onStop } = context
  const durable = await connect(config.redisUrl, 'commands', log)
  onStop('durable redis', () => disconnect(durable))
  await requirePermissions(durable, 'durable', context)
  const { writes, close } = await openWrites(durable, config, log)
  onStop('durable writes', close)
  await assertPartitions(durable, config.partitions)
  await requireDurability(durable, context)
  return { durable, writes }
}

/**
 * Fixes the number of partitions when the data is born, and refuses any other number ever after: with another number
 * every merchant would be looked for in the wrong place.
 */
export async function assertPartitions(redis: Redis, partitions: number): Promise<void> {
  await redis.setnx(keys.partitionCount(), partitions)
  const born = Number(await redis.get(keys.partitionCount()))
  if (born !== partitions) {
    throw new Error(
      `This data was born with ${born} partitions, PARTITIONS says ${partitions}. Set PARTITIONS=${born}; the number can't change.`
    )
  }
}

/**
 * In the live environment it throws when the durable Redis may lose what it has confirmed; everywhere it makes that a
 * condition of /readyz.
 */
export async function requireDurability(
  redis: Redis,
  {
    config,
    onReadyCheck
  }: Pick<ProcessContext, 'onReadyCheck'> & {
    readonly config: Pick<Config, 'environment' | 'acceptEverysec'>
  }
): Promise<void> {
  const check = (): Promise<string | undefined> => durabilityProblem(redis, config.acceptEverysec === 'yes')
  const problem = await check()
  if (config.environment === 'live' && problem !== undefined) throw new Error(problem)
  onReadyCheck('durability', check)
}

/** Without these settings an accepted payment can be lost, and the values that are durable enough. */
const requirements = [
  { name: 'appendonly', allowed: ['yes'] },
  { name: 'appendfsync', allowed: ['always'] },
  { name: 'maxmemory-policy', allowed: ['noeviction'] }
] as const

/**
 * The sentence that says what could lose an accepted payment, or undefined. `acceptEverysec` allows that fsync. Of a
 * Cluster all masters are asked. Rejects with a sentence when one does not answer.
 */
export async function durabilityProblem(redis: Redis, acceptEverysec: boolean): Promise<string | undefined> {
  const found = Promise.all(mastersOf(redis).map(node => problemsOf(node, acceptEverysec)))
  const problems = new Set((await found.catch(rejectAsUnreachable)).flat())
  if (problems.size === 0) return undefined
  return `The Redis of REDIS_URL may lose accepted payments: ${[...problems].join('; ')}.`
}

/** The condition of /readyz of a process that needs the durable Redis, and does not promise what it keeps. */
export async function assertReachable(redis: Redis): Promise<undefined> {
  await redis.ping().catch(rejectAsUnreachable)
  return undefined
}

function rejectAsUnreachable(error: unknown): never {
  throw new Error(
    `The Redis of REDIS_URL can't be asked (${reasonOf(error)}). It must be up and allow PING and CONFIG GET.`
  )
}

async function problemsOf(redis: Redis, acceptEverysec: boolean): Promise<string[]> {
  const problems: string[] = []
  for (const { name, allowed } of requirements) {
    const reply: unknown = await redis.config('GET', name)
    const value = Array.isArray(reply) ? String(reply[1]) : 'unknown'
    const accepted: readonly string[] = name === 'appendfsync' && acceptEverysec ? ['always', 'everysec'] : allowed
    if (!accepted.includes(value)) problems.push(`${name} is ${value}, must be ${accepted.join(' or ')}`)
  }
  return problems
}
