/** Programs of the drill, to their end. */
import { spawn } from 'node:child_process'

const DEADLINE_MS = 900_000
/** A registry that takes longer is one that does not answer. */
const FETCHING_DEADLINE_MS = 240_000
/** Of what a program printed, in the error: those that name one, and the last ones. */
const LINES_MAX = 8

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
}

/** A tool or a package is not to be had on this machine now: this says nothing about a client. */
export class NotAvailable extends Error {}

/** What programs print when a registry does not answer, in contrast to one that has no such package. */
const UNREACHABLE =
  /timed? ?out|i\/o timeout|connection (refused|reset|aborted)|no such host|name resolution|network is unreachable|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENOTFOUND|Could not transfer|\b(429|50[234])\b|TLS handshake|SIGTERM/i

/** Like `run`, for what comes from a registry. Rejects with `NotAvailable` when that does not answer, or not in time. */
export async function fetching(file: string, args: readonly string[], options: RunOptions = {}): Promise<void> {
  await run(file, args, { deadlineMs: FETCHING_DEADLINE_MS, ...options }).catch((error: Error) => {
    throw UNREACHABLE.test(error.message) ? new NotAvailable(`a registry does not answer: ${error.message}`) : error
  })
}

/** Output of a program. Rejects with its last lines when it fails, or takes longer than 15 minutes. */
export async function run(
  file: string,
  args: readonly string[],
  options: RunOptions = {}
): Promise<{ stdout: string }> {
  const env = { ...process.env, ...options.env }
  const child = spawn(file, args, {
    cwd: options.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.deadlineMs ?? DEADLINE_MS
  })
  let [stdout, all] = ['', '']
  child.stdout.on('data', (text: Buffer) => {
    stdout += text
    all += text
  })
  child.stderr.on('data', (text: Buffer) => {
    all += text
  })
  const problem = await new Promise<string | null>(done => {
    child.once('error', error => done(error.message))
    child.once('close', (code, signal) => done(code === 0 ? null : `ended by ${signal ?? `exit code ${code}`}`))
  })
  if (problem === null) return { stdout }
  const lines = all.trim().split('\n')
  const errors = lines.filter(line => /error/i.test(line)).slice(0, LINES_MAX)
  const shown = new Set([...errors, ...lines.slice(-LINES_MAX)])
  throw new Error([`${file} ${args[0] ?? ''} ${problem}`, ...shown].join('\n'))
}
