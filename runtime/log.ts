/**
 * Structured logs: one JSON object a line on standard output, a constant sentence as message, the data as fields.
 *
 * Nothing that identifies a card or authenticates a client may be logged. The paths below are the last line of
 * defence, not the first: callers pass ids, never requests or commands.
 */
import { format } from 'node:util'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { version } from './version.js'

export type { Logger } from 'pino'

const SECRET_FIELDS = [
  'authorization',
  'card_number',
  'cardNumber',
  'cvv',
  'secret',
  'api_key',
  'apiKey',
  'MerchantKey',
  'SecurityCode',
  'CardNumber'
]

/**
 * One logger per process; derive children with ids: `log.child({ payment_id })`. `destination`: standard output unless
 * it is given.
 *
 * Standard output means `process.stdout`, not pino's own destination. When the reader of the output is gone, the latter
 * tries for ever to write its last lines at exit, and the process stays (measured with sonic-boom 4.2.1).
 */
export function createLogger(processName: string, level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: { process: processName, pid: process.pid, version },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap(field => [field, `*.${field}`, `*.*.${field}`]), censor: '[secret]' },
    serializers: { err: describeError }
  }
  return pino(options, destination ?? standardOutput())
}

let isReaderWatched = false

/** An error of standard output is ignored: without a reader the process goes on until it is stopped. */
function standardOutput(): DestinationStream {
  if (!isReaderWatched) process.stdout.on('error', () => undefined)
  isReaderWatched = true
  return process.stdout
}

/** How long a sentence of `warnRateLimited` is silent after it was said (ms). */
const SILENCE_MS = 5_000

const said = new WeakMap<Logger, Map<string, { silentUntilMs: number; leftOut: number }>>()

/**
 * A warning that every request and every command may cause at once, such as a Redis that is away. The first one is
 * logged; those of the next `silenceMs` go to `debug`, and the next warning tells how many they were (`left_out`).
 */
export function warnRateLimited(log: Logger, fields: object, message: string, silenceMs = SILENCE_MS): void {
  const sentences = said.get(log) ?? new Map<string, { silentUntilMs: number; leftOut: number }>()
  said.set(log, sentences)
  const nowMs = performance.now()
  const last = sentences.get(message)
  if (last !== undefined && nowMs < last.silentUntilMs) {
    last.leftOut++
    log.debug(fields, message)
    return
  }
  log.warn(last === undefined ? fields : { ...fields, left_out: last.leftOut }, message)
  sentences.set(message, { silentUntilMs: nowMs + silenceMs, leftOut: 0 })
}

/** What a library prints by itself becomes a line like all others. The client of Redis prints while a Sentinel is away. */
export function logWhatLibrariesPrint(log: Logger): void {
  const print = (...parts: unknown[]): void =>
    warnRateLimited(log, { printed: format(...parts) }, 'a library printed something')
  Object.assign(console, { error: print, warn: print })
}

/**
 * What is logged of an error: its kind, message, stack (causes included) and code. Never its other properties: the Redis
 * client hangs the arguments of the command on them, which may be a sealed CVV, and parsers the text that they read.
 */
function describeError(error: Error): { type: string; message: string; stack: string; code?: unknown } {
  const { type, message, stack, code } = pino.stdSerializers.err(error)
  return code === undefined ? { type, message, stack } : { type, message, stack, code }
}
