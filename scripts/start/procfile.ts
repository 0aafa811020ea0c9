/** The Procfile (one process a line, `name: command`) and how often each process runs. */
import { UsageError } from '../command-line/usage-error.js'

/** One line of the Procfile. `command` is for `/bin/sh`. */
export interface ProcfileEntry {
  readonly name: string
  readonly command: string
}

/** An instance of a process that is to run; `instance` counts from 1. */
export interface PlannedInstance extends ProcfileEntry {
  readonly instance: number
}

const INSTANCES_MAX = 64

/** Reads a Procfile; empty lines and lines that begin with # are ignored. Throws with every bad line. */
export function parseProcfile(text: string): ProcfileEntry[] {
  const entries: ProcfileEntry[] = []
  const problems: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const match = /^([A-Za-z0-9_-]+):\s*(\S.*?)\s*$/.exec(line)
    const [, name, command] = match ?? []
    if (name === undefined || command === undefined) problems.push(`line ${index + 1} is not "name: command": ${line}`)
    else if (entries.some(entry => entry.name === name)) problems.push(`line ${index + 1} names "${name}" again`)
    else entries.push({ name, command })
  }
  if (problems.length > 0) throw new Error(`The Procfile is wrong.\n${problems.map(line => `  - ${line}`).join('\n')}`)
  return entries
}

/**
 * The instances that run: one of each entry but `archive`, unless `scale` (arguments such as `payments=4`) says otherwise; 0
 * is allowed. Throws `UsageError` with every argument that can't be met.
 */
export function planInstances(entries: readonly ProcfileEntry[], scale: readonly string[]): PlannedInstance[] {
  const names = entries.map(entry => entry.name).join(', ')
  const counts = new Map<string, number>()
  const problems: string[] = []
  for (const argument of scale) {
    const [, name, digits] = /^([A-Za-z0-9_-]+)=(\d{1,4})$/.exec(argument) ?? []
    const count = Number(digits)
    if (name === undefined) problems.push(`${argument}: expected name=count, such as payments=4`)
    else if (!entries.some(entry => entry.name === name)) problems.push(`${argument}: the Procfile has ${names}`)
    else if (count > INSTANCES_MAX) problems.push(`${argument}: at most ${INSTANCES_MAX} instances`)
    else if (name === 'network' && count > 1) problems.push(`${argument}: the simulator has one ledger, so at most one`)
    else counts.set(name, count)
  }
  if (problems.length > 0) {
    throw new UsageError(`Nothing was started.\n${problems.map(line => `  - ${line}`).join('\n')}`)
  }
  return entries.flatMap(entry =>
    Array.from({ length: counts.get(entry.name) ?? (entry.name === 'archive' ? 0 : 1) }, (_, index) => ({
      ...entry,
      instance: index + 1
    }))
  )
}
