/**
 * Standard output that a full disk does not end.
 *
 * Node's stream for a file drops the part of a text for which there is no room, without an error, and is destroyed by its
 * first error. So files are written here. Pipes and terminals keep their stream, which reports a reader that is gone.
 */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { messageOf } from './message-of.js'

const STDOUT = 1
/** What may wait for a reader that does not read. */
const WAITING_MAX_BYTES = 16 * 1024 * 1024

/** Lines that could not be written, and why not the last of them. */
export interface LostLines {
  readonly lines: number
  readonly reason: string
}

/**
 * Writes the whole text, and then calls `done`: with an error when the reader of a pipe has closed it. Throws when it goes to
 * a file without room for it.
 */
export function writeToStandardOutput(text: string, done: (error?: Error | null) => void = () => undefined): void {
  if (process.stdout instanceof Socket) {
    process.stdout.write(text, done)
    return
  }
  writeWhole(text)
  done()
}

/** The output of a process that goes on without it: `write` never throws. `tell` gets what was lost once there is room again. */
export class LastingOutput {
  readonly #tell: (lost: LostLines) => void
  #lost = 0
  #reason = ''

  constructor(tell: (lost: LostLines) => void) {
    this.#tell = tell
  }

  /** Takes whole lines. */
  write(lines: string): void {
    try {
      if (process.stdout.writableLength > WAITING_MAX_BYTES) throw new Error('its reader does not read')
      // The line before may be cut off in the middle.
      writeToStandardOutput(this.#lost > 0 ? `\n${lines}` : lines)
    } catch (error) {
      this.#lost += lines.split('\n').length - 1
      this.#reason = messageOf(error)
      return
    }
    if (this.#lost === 0) return
    const lost = { lines: this.#lost, reason: this.#reason }
    this.#lost = 0
    this.#tell(lost)
  }
}

function writeWhole(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(STDOUT, rest))
}
