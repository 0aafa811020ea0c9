/** How a tool ends: with a sentence after an error, and without leftovers after SIGINT or SIGTERM. */
import { AssertionError } from 'node:assert'
import { constants } from 'node:os'
import { messageOf } from '../../runtime/message-of.js'
import { UsageError } from './usage-error.js'

/** Printed under the sentence about arguments that were not understood. */
export const HELP_HINT = '(add --help for the options)'

/** Ctrl-C reaches a tool twice, from the terminal and from npm. Only a later signal counts as a second one. */
export const SECOND_SIGNAL_AFTER_MS = 1_000
/** Errors that show a bug. Expected errors are an `Error` of the tool or of the system. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, AssertionError]

/**
 * The text of an error. An expected one (a port in use, a Redis that is down) is a sentence; a bug keeps its stack for
 * the developer.
 */
export function wordsOf(error: unknown): string {
  if (isMistake(error)) return `${error.stack ?? error.message}\n`
  return `error: ${messageOf(error)}\n${error instanceof UsageError ? `${HELP_HINT}\n` : ''}`
}

/** Whether an error shows a bug. */
export function isMistake(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return MISTAKES.some(kind => error instanceof kind) || error.message.startsWith('unreachable')
}

/** Prints an error on standard error. Returns the exit code for it. */
export function complain(error: unknown): number {
  process.stderr.write(wordsOf(error))
  return error instanceof UsageError ? 2 : 1
}

/** From now on an uncaught error ends this process with its words, and so does an output that takes no more. */
export function endWithWords(): void {
  process.on('uncaughtException', error => process.exit(complain(error)))
  process.stdout.on('error', endWithOutput)
  process.stderr.on('error', () => undefined)
}

/** For a tool that runs until it is stopped: `stop` is called instead when the output has lost its reader. */
export function stopWithoutReader(stop: () => void): void {
  process.stdout.off('error', endWithOutput).on('error', stop)
}

function endWithOutput(error: NodeJS.ErrnoException): never {
  // The reader has had enough (`| head`), and needs no words.
  process.exit(error.code === 'EPIPE' ? 1 : complain(error))
}

/**
 * Ends this process on a signal. A server passes its `stop`, and ends with 0; without it work is aborted, and the exit
 * code is that of the signal (130 after Ctrl-C). A second signal does not wait for `stop`.
 */
export function stopOnSignals(stop?: () => Promise<void>): void {
  let sinceMs: number | undefined
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const cutOff = (): never => process.exit(128 + constants.signals[name])
    process.on(name, () => {
      if (stop === undefined || (sinceMs !== undefined && Date.now() - sinceMs > SECOND_SIGNAL_AFTER_MS)) cutOff()
      if (sinceMs !== undefined) return
      sinceMs = Date.now()
      stop?.().then(() => process.exit(0), cutOff)
    })
  }
}
