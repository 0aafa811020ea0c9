/**
 * How many files and connections this process may open (`ulimit -n`), and whether they are enough. Without a free descriptor
 * the kernel's connections are closed by libuv, and no event tells.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Config } from './config.js'
import type { ProcessName } from './setting.js'
import { ENDPOINTS_HANGING } from './settings/webhooks-settings.js'

/** For Redis, PostgreSQL, files and ops ports. */
export const OTHER_DESCRIPTORS = 256
/** Requests that one `api` works on at the same time, each with a connection: more would only wait longer for its one thread. */
export const REQUESTS_MAX = 2_048
/** Above this part of its limit a process soon refuses connections. */
const NEARLY_ALL = 0.9

/** The limit of this process; Node has raised it to the hard one. Infinity where it is not known: other systems than Linux. */
export function descriptorsMax(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

type Settings = Pick<Config, 'workerConcurrency' | 'webhookConcurrency'>

/** Connections that a process has at the same time, beside those of `OTHER_DESCRIPTORS`. It reads its own settings alone. */
const connectionsOf: Partial<Record<ProcessName, (settings: Settings) => number>> = {
  api: () => REQUESTS_MAX,
  tokens: () => REQUESTS_MAX,
  payments: ({ workerConcurrency }) => workerConcurrency,
  webhooks: ({ webhookConcurrency }) => ENDPOINTS_HANGING * webhookConcurrency
}

/** How many a process needs for what its settings let it do at the same time. */
export function descriptorsNeeded(name: ProcessName, settings: Settings): number {
  return OTHER_DESCRIPTORS + (connectionsOf[name]?.(settings) ?? 0)
}

/** The sentence about a limit that is too low, or nearly reached; undefined: it is neither. */
export async function descriptorsWarning(needed: number, max = descriptorsMax()): Promise<string | undefined> {
  const raise = 'Raise `LimitNOFILE` (systemd), the `nofile` limit of the container, or `ulimit -n`, and restart'
  if (max < needed)
    return `Only ${max} files and connections may be open at the same time, and this process needs ${needed}: above that connections fail. ${raise}.`
  if (max === Number.POSITIVE_INFINITY) return undefined
  // The list needs a descriptor itself. Other systems than Linux have none.
  const open = await readdir('/proc/self/fd').then(
    ({ length }) => length,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 0 : max)
  )
  if (open < NEARLY_ALL * max) return undefined
  return `${open} of ${max} files and connections are open: further connections fail. Find who opens them. ${raise}.`
}
