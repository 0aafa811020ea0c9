/** The health of a process: problems, with which it can't work, and warnings, on which an operator must act. */
import type { Logger } from './log.js'
import { messageOf } from './message-of.js'
import { withTimeout } from './with-timeout.js'

/** Resolves to a sentence that says what is wrong, or to undefined. A rejection counts as wrong. */
export type Check = () => Promise<string | undefined> | string | undefined

/** A check could not ask a server. Of all checks that could not, one is reported, as a part that is named as the server. */
export class CannotAsk extends Error {
  readonly server: string

  constructor(server: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.server = server
  }
}

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
    foundBy(conditions.problems, checkTimeoutMs),
    foundBy(conditions.warnings, checkTimeoutMs)
  ])
  const all = [...problems, ...warnings]
  const isFirst = (one: Found): boolean =>
    one.server === null || all.find(({ server }) => server === one.server) === one
  const reported = (found: readonly Found[]): Record<string, string> =>
    Object.fromEntries(found.filter(isFirst).map(({ part, server, sentence }) => [server ?? part, sentence]))
  return { problems: reported(problems), warnings: reported(warnings) }
}

/** What a check has found. `server`: the one that it could not ask. */
interface Found {
  readonly part: string
  readonly server: string | null
  readonly sentence: string
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

async function foundBy(checks: ReadonlyMap<string, Check>, timeoutMs: number): Promise<Found[]> {
  const found = [...checks].map(async ([part, check]): Promise<Found[]> => {
    try {
      const sentence = await withTimeout(timeoutMs, Promise.resolve().then(check))
      return sentence === undefined ? [] : [{ part, server: null, sentence }]
    } catch (error) {
      return [{ part, server: error instanceof CannotAsk ? error.server : null, sentence: messageOf(error) }]
    }
  })
  return (await Promise.all(found)).flat()
}
