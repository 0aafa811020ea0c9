/**
 * The ledger's file: one JSON object a line, the last line of a sale counts.
 *
 * A line is written before the network answers, with one synchronous write into the kernel: a simulator that is killed
 * has forgotten nothing that it has answered. A power loss may cost the last lines; this is a test network.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { isRecord, parseJson } from '../../runtime/json.js'

export interface Journal {
  append(line: string): void
  close(): void
}

/** The lines of a journal, oldest first. A last line that was cut short was never answered for, and is left out. */
export function readJournal(file: string): readonly unknown[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line, index) => {
    const entry = parseJson(line)
    if (!isRecord(entry)) {
      throw new Error(`${file}, line ${index + 1} is not a sale. Move the file away to start with an empty ledger.`)
    }
    return entry
  })
}

/** Starts the journal anew with the given lines, in place of what the file held, and opens it for more. */
export function openJournal(file: string, lines: Iterable<string>): Journal {
  const text = Array.from(lines, line => `${line}\n`).join('')
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  const descriptor = openSync(file, 'a', 0o600)
  return {
    append: line => {
      writeSync(descriptor, `${line}\n`)
    },
    close: () => closeSync(descriptor)
  }
}
