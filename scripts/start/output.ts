/** The output of all children on one stream: whole lines, each with the name of its process in front. */
import { type PrettyOptions, prettyFactory } from 'pino-pretty'
import { parseJson } from '../../runtime/json.js'

const COLOURS = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94]

/** Takes the output of one child, in pieces of any size. */
export type LineSink = (text: string) => void

export interface OutputOptions {
  /** Colours are for terminals only. */
  readonly isColoured: boolean
  /** Lines of a log are printed for people, not as JSON. */
  readonly isReadable?: boolean
}

/** Returns a function that makes a sink per process. `names` sets the width of the column and the colours. */
export function prefixedOutput(
  names: readonly string[],
  { isColoured, isReadable = false }: OutputOptions,
  write: (text: string) => void
): (name: string) => LineSink {
  const width = Math.max(0, ...names.map(name => name.length))
  const shown = isReadable ? readable(isColoured) : (line: string): string => line
  return name => {
    const label = `${name.padEnd(width)} | `
    const colour = COLOURS[Math.max(0, names.indexOf(name)) % COLOURS.length]
    const prefix = isColoured ? `\u001b[${colour}m${label}\u001b[0m` : label
    let rest = ''
    return text => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) write(lines.map(line => `${prefix}${shown(line)}\n`).join(''))
    }
  }
}

/** Of an answered request: `POST /v1/payments/:id/refund 409 refund_in_progress, 12 ms, payment …`. */
const REQUEST: PrettyOptions = {
  include: 'level,time',
  messageFormat: ({ method, route, status, code, duration_ms: ms, payment_id: payment }) =>
    [
      [method, route ?? '(no such route)', status, code].filter(Boolean).join(' '),
      `${String(ms)} ms`,
      payment && `payment ${String(payment)}`
    ]
      .filter(Boolean)
      .join(', ')
}

/** Formats a line of a log for people: local time, level, message, fields. A line that is no JSON stays unchanged. */
function readable(isColoured: boolean): (line: string) => string {
  const common: PrettyOptions = {
    colorize: isColoured,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,process,version',
    singleLine: true
  }
  const plain = prettyFactory(common)
  const request = prettyFactory({ ...common, ...REQUEST })
  return line => {
    const isRequest = line.includes('"msg":"request answered"')
    return parseJson(line) === undefined ? line : (isRequest ? request : plain)(line).trimEnd()
  }
}
