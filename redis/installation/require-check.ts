/** What a process demands of a Redis: at its start, and as a part of /readyz from then on. */
import type { Config } from '../../runtime/config.js'
import type { Check } from '../../runtime/health.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'

/** Throws the sentence of the check; in the test environment only if `isAlways`. Answers whether it holds. */
export async function requireCheck(
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
