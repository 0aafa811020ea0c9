/** The settings of the durable Redis without which an accepted payment can be lost. */
import type { Config } from '../../runtime/config.js'
import type { Check } from '../../runtime/health.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { askMasters } from '../connection/unreachable.js'
import { brokenBy, durableConditions, readSettings } from './conditions.js'
import { requireCheck } from './require-check.js'

/** Requires it in the live environment. Answers the condition that must go on to hold: none where it did not hold at the start. */
export async function requireDurability(
  redis: Redis,
  context: Pick<ProcessContext, 'onReadyCheck'> & {
    readonly config: Pick<Config, 'environment' | 'acceptEverysec'>
  }
): Promise<Check[]> {
  const check: Check = () => durabilityProblem(redis, context.config.acceptEverysec === 'yes')
  return (await requireCheck('durability', check, context)) ? [check] : []
}

/**
 * The sentence that says what could lose an accepted payment, or undefined. `acceptEverysec` allows that fsync. Of a
 * Cluster all masters are asked, as far as their user may read settings. Rejects with a sentence when one does not answer.
 */
export async function durabilityProblem(redis: Redis, acceptEverysec: boolean): Promise<string | undefined> {
  const problems = new Set((await askMasters(redis, node => weakSettings(node, acceptEverysec))).flat())
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
