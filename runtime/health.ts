/** The health of a process: problems, with which it can't work, and warnings, on which an operator must act. */
import type { Logger } from './log.js'
import { messageOf } from './message-of.js'
import { within } from './within.js'

/** Resolves to a sentence that says what is wrong, or to undefined. A rejection counts as wrong. */
export type Check = () => Promise<string | undefined> | string | undefined

/** The checks of a process, by the name of the part that they look at. */
export interface Conditions {
  readonly problems: ReadonlyMap<string, Check>
  readonly warnings: ReadonlyMap<string, Check>
}

/** A sentence for each part with a problem or a warning. */
export interface Health {
  readonly problems: Record<string, string>
  readonly warnings: Record<string, string>
}

/**
 * How long one check may take (ms): longer than the timeout of a Redis command, whose own error says more. All checks
 * run at the same time. A scrape waits for them, and Prometheus gives up after 10 s.
 */
const CHECK_TIMEOUT_MS = 6_000

/** Runs all checks. Never rejects. */
export async function healthOf(conditions: Conditions, checkTimeoutMs = CHECK_TIMEOUT_MS): Promise<Health> {
  const [problems, warnings] = await Promise.all([
    sentencesOf(conditions.problems, checkTimeoutMs),
    sentencesOf(conditions.warnings, checkTimeoutMs)
  ])
  return { problems, warnings }
}

/** Logs each problem (error) and warning (warn) once when it begins, and its end (info). */
export function logChanges(log: Logger): (health: Health) => void {
  const known = new Set<string>()
  const logKind = (kind: 'problem' | 'warning', found: Readonly<Record<string, string>>): void => {
    for (const [part, sentence] of Object.entries(found)) {
      if (known.has(`${kind} ${part}`)) continue
      known.add(`${kind} ${part}`)
      log[kind === 'problem' ? 'error' : 'warn']({ part, reason: sentence }, `a ${kind} began, see /readyz`)
    }
    for (const entry of known) {
      const part = entry.slice(kind.length + 1)
      if (!entry.startsWith(`${kind} `) || part in found) continue
      known.delete(entry)
      log.info({ part }, `a ${kind} ended`)
    }
  }
  return ({ problems, warnings }) => {
    logKind('problem', problems)
    logKind('warning', warnings)
  }
}

async function sentencesOf(checks: ReadonlyMap<string, Check>, timeoutMs: number): Promise<Record<string, string>> {
  const found = await Promise.all([...checks].map(async ([part, check]) => [part, await sentenceOf(check, timeoutMs)]))
  return Object.fromEntries(found.filter(([, sentence]) => sentence !== undefined))
}

async function sentenceOf(check: Check, timeoutMs: number): Promise<string | undefined> {
  try {
    return await within(timeoutMs, Promise.resolve().then(check))
  } catch (error) {
    return messageOf(error)
  }
}
