/** The lines that a logger writes, for tests that look at them. */
import { Writable } from 'node:stream'

/** A destination for a logger that appends each line to `lines`. */
export function writingTo(lines: string[]): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    }
  })
}
