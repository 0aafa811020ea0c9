/**
 * Structured logs: one JSON object a line on standard output, a constant sentence as message, the data as fields.
 *
 * Nothing that identifies a card or authenticates a client may be logged. Callers pass ids, never requests or commands;
 * the redacted paths below are a second protection.
 */
import { format } from 'node:util'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { escapeControlCharacters } from './escape-control-characters.js'
import { LastingOutput, type LostLines } from './standard-output.js'
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
 * One logger per process; derive children with ids: `log.child({ payment_id })`. It writes to standard output by default.
 *
 * Standard output is not pino's own destination: when the reader of the output is dead, that retries its last lines for ever,
 * and the process does not exit (measured with sonic-boom 4.2.1).
 */
export function createLogger(processName: string, level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: { process: processName, pid: process.pid, version },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap(field => [field, `*.${field}`, `*.*.${field}`]), censor: '[secret]' },
    serializers: { err: describeError },
    // JSON escapes fewer characters than a terminal obeys.
    hooks: { streamWrite: escapeControlCharacters }
  }
  const log: Logger = pino(options, destination ?? standardOutput(lost => log.warn(lost, 'lines of the log were lost')))
  return log
}

let isReaderWatched = false

/** Errors of standard output are ignored: without a reader the process continues until it is stopped. */
function standardOutput(tell: (lost: LostLines) => void): DestinationStream {
  if (!isReaderWatched) process.stdout.on('error', () => undefined)
  isReaderWatched = true
  return new LastingOutput(tell)
}

/** How long `warnRateLimited` suppresses a message after it was logged (ms). */
const SILENCE_MS = 5_000

const logged = new WeakMap<Logger, Map<string, { silentUntilMs: number; leftOut: number }>>()

/**
 * A warning that every request and every command may cause at once, such as a Redis that is down. The first one is
 * logged as a warning, those of the next `silenceMs` at `debug`. The next warning has their number (`left_out`). Returns whether
 * it was logged as a warning.
 */
export function warnRateLimited(log: Logger, fields: object, message: string, silenceMs = SILENCE_MS): boolean {
  const sentences = logged.get(log) ?? new Map<string, { silentUntilMs: number; leftOut: number }>()
  logged.set(log, sentences)
  const nowMs = performance.now()
  const last = sentences.get(message)
  if (last !== undefined && nowMs < last.silentUntilMs) {
    last.leftOut++
    log.debug(fields, message)
    return false
  }
  log.warn(last === undefined ? fields : { ...fields, left_out: last.leftOut }, message)
  sentences.set(message, { silentUntilMs: nowMs + silenceMs, leftOut: 0 })
  return true
}

/** Logs what libraries print to the console. The client of Redis prints while a Sentinel is down. */
export function logWhatLibrariesPrint(log: Logger): void {
  const print = (...parts: unknown[]): void =>
    void warnRateLimited(log, { printed: format(...parts) }, 'a library printed something')
  Object.assign(console, { error: print, warn: print })
}

/**
 * What is logged of an error: its kind, message, stack (causes included) and code. Never its other properties: the Redis
 * client attaches the arguments of the command, which may be a sealed CVV; parsers attach the text that they read.
 */
function describeError(error: Error): { type: string; message: string; stack: string; code?: unknown } {
  const { type, message, stack, code } = pino.stdSerializers.err(error)
  return code === undefined ? { type, message, stack } : { type, message, stack, code }
}
