/** The settings of the durable Redis without which an accepted payment can be lost. */
import type { Config } from '../../runtime/config.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { mastersOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { rejectAsUnreachable } from '../connection/unreachable.js'
import { brokenBy, durableConditions, readSettings } from './conditions.js'
import type { MoneyCondition } from './money-conditions.js'

/**
 * In the live environment it throws when the durable Redis may lose what it has confirmed; everywhere it makes that a
 * condition of /readyz. Answers the condition that must go on to hold: none where it did not hold at the start.
 */
export async function requireDurability(
  redis: Redis,
  {
    config,
    onReadyCheck
  }: Pick<ProcessContext, 'onReadyCheck'> & {
    readonly config: Pick<Config, 'environment' | 'acceptEverysec'>
  }
): Promise<MoneyCondition[]> {
  const check: MoneyCondition = () => durabilityProblem(redis, config.acceptEverysec === 'yes')
  const problem = await check()
  if (config.environment === 'live' && problem !== undefined) throw new Error(problem)
  onReadyCheck('durability', check)
  return problem === undefined ? [check] : []
}

/**
 * The sentence that says what could lose an accepted payment, or undefined. `acceptEverysec` allows that fsync. Of a
 * Cluster all masters are asked, as far as their user may read settings. Rejects with a sentence when one does not answer.
 */
export async function durabilityProblem(redis: Redis, acceptEverysec: boolean): Promise<string | undefined> {
  const found = Promise.all(mastersOf(redis).map(node => weakSettings(node, acceptEverysec)))
  const problems = new Set((await found.catch(rejectAsUnreachable(redis))).flat())
  if (problems.size === 0) return undefined
  return `The Redis of REDIS_URL may lose accepted payments: ${[...problems].join('; ')}.`
}

/** The settings of one server that are not durable enough, such as "appendonly is no, must be yes". */
export async function weakSettings(server: Redis, acceptEverysec: boolean): Promise<string[]> {
  const wanted = durableConditions.map(condition =>
    condition.setting === 'appendfsync' && acceptEverysec
      ? { ...condition, allowed: [...condition.allowed, 'everysec'] }
      : condition
  )
  return brokenBy(await readSettings(server), wanted).map(
    ({ setting, value, allowed }) => `${setting} is ${value}, must be ${allowed.join(' or ')}`
  )
}
