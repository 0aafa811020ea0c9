/** What a check of `operator doctor` found, and how checks are run. */
import type { Check } from '../../../runtime/health.js'
import type { ProcessContext } from '../../../runtime/lifecycle.js'
import { createLogger } from '../../../runtime/log.js'
import { messageOf } from '../../../runtime/message-of.js'
import { within } from '../../../runtime/within.js'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem' | 'not checked'
  readonly found: string
  /** What to do; null where all is well. */
  readonly mend: string | null
}

/** A check that takes longer is a problem (ms). */
const CHECK_TIMEOUT_MS = 15_000

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, mend: null }
}

export function problem(check: string, found: string, mend: string): Finding {
  return { check, state: 'problem', found, mend }
}

export function warning(check: string, found: string, mend: string): Finding {
  return { check, state: 'warning', found, mend }
}

export function notChecked(check: string, found: string, mend: string): Finding {
  return { check, state: 'not checked', found, mend }
}

/** `problem`, or `ok` without a sentence. */
export function judged(check: string, sentence: string | undefined, whenWell: string, mend: string): Finding {
  return sentence === undefined ? ok(check, whenWell) : problem(check, sentence, mend)
}

/** Runs one check. What it throws is a problem with this mend. Never rejects. */
export async function attempt(
  check: string,
  mend: string,
  work: () => Promise<Finding | readonly Finding[]>
): Promise<Finding[]> {
  try {
    return [await within(CHECK_TIMEOUT_MS, work())].flat()
  } catch (error) {
    return [problem(check, messageOf(error), mend)]
  }
}

/** Stands in for a process, so that the checks which processes register at their start can be run once. */
export class Registrations implements Pick<ProcessContext, 'log' | 'onStop' | 'onReadyCheck' | 'onWarning'> {
  readonly log = createLogger('operator', 'silent')
  readonly #problems = new Map<string, Check>()
  readonly #warnings = new Map<string, Check>()
  readonly #stops: (() => Promise<void> | void)[] = []
  readonly onReadyCheck = (part: string, check: Check): void => void this.#problems.set(part, check)
  readonly onWarning = (part: string, check: Check): void => void this.#warnings.set(part, check)
  readonly onStop = (_: string, stop: () => Promise<void> | void): void => void this.#stops.push(stop)

  /** Runs them all, and stops what they have opened. */
  async findings(mend: string): Promise<Finding[]> {
    const run = (checks: ReadonlyMap<string, Check>, say: typeof problem): Promise<Finding[]>[] =>
      [...checks].map(([part, check]) =>
        attempt(part, mend, async () => {
          const sentence = await check()
          return sentence === undefined ? [] : say(part, sentence, mend)
        })
      )
    const found = await Promise.all([...run(this.#problems, problem), ...run(this.#warnings, warning)])
    for (const stop of this.#stops.reverse()) await stop()
    return found.flat()
  }
}
