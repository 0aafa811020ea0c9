/** How much processor time this process and all that it started have used. */
import { readdirSync, readFileSync } from 'node:fs'

/** /proc counts in hundredths of a second on every Linux. */
const TICKS_PER_SECOND = 100

/**
 * Seconds of all processors together: of this process, its children and theirs, those that have ended included. Without
 * /proc (macOS), of this process alone.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  try {
    return secondsOfTree(process.pid)
  } catch {
    return (user + system) / 1_000_000
  }
}

function secondsOfTree(root: number): number {
  const children = new Map<number, number[]>()
  const seconds = new Map<number, number>()
  for (const pid of readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)) {
    const stat = statOf(pid)
    if (stat === null) continue
    seconds.set(pid, stat.seconds)
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid])
  }
  const ofTree = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + ofTree(child), seconds.get(pid) ?? 0)
  return ofTree(root)
}

/** Null when the process has ended in the meantime. Fields as in proc(5), counted behind the program's name. */
function statOf(pid: number): { parent: number; seconds: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11, 15).map(Number)
    return { parent: Number(fields[1]), seconds: (user + system + userOfEnded + systemOfEnded) / TICKS_PER_SECOND }
  } catch {
    return null
  }
}
