/**
 * What a start demands of the durable Redis goes on to be demanded: when it ends while a process runs, the process writes
 * nothing more until it holds again. What was written meanwhile could be lost, after its client was told that it is durable.
 */
import type { Config } from '../../runtime/config.js'
import { eachSecond } from '../../runtime/each-second.js'
import type { Check } from '../../runtime/health.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { MoneyWaits } from '../connection/redis-errors.js'
import type { Writes } from '../connection/writes.js'

/**
 * What a process demands of a Redis, as the part `part` of /readyz. At the start it throws the sentence; in the test environment
 * it does so only if `isAlways`. Answers whether it holds.
 */
export async function demand(
  part: string,
  check: Check,
  { config, onReadyCheck }: Pick<ProcessContext, 'onReadyCheck'> & { readonly config: Pick<Config, 'environment'> },
  isAlways = false
): Promise<boolean> {
  const problem = await check()
  if (problem !== undefined && (isAlways || config.environment === 'live')) throw new Error(problem)
  onReadyCheck(part, check)
  return problem === undefined
}

/** The writes of a process, rejected while one of the conditions does not hold. Each rejects while Redis can't be asked. */
export function writesUnless(
  conditions: readonly Check[],
  writes: Writes,
  { onStop }: Pick<ProcessContext, 'onStop'>
): Writes {
  let problem: string | undefined
  const look = async (): Promise<void> => {
    const found = await Promise.all(conditions.map(condition => condition()))
    problem = found.find(sentence => sentence !== undefined)
  }
  // A server that can't be asked takes no writes either.
  const endLooks = eachSecond(() => void look().catch(() => undefined))
  onStop('conditions of durable writes', endLooks)
  return {
    ...writes,
    run: async (key, work) => {
      if (problem !== undefined) throw new MoneyWaits(problem)
      return await writes.run(key, work)
    }
  }
}
