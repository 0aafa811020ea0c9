/** Which processes of this machine a test has started: found by a marker in their command line. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'
import { until } from './conditions.js'

const MARKER_LENGTH_MIN = 12

/**
 * The pids of all living processes, this one excepted, whose command line contains `marker`. Throws on a short marker:
 * an empty one would name every process of the machine to a test that then kills them.
 */
export function pidsWith(marker: string): number[] {
  if (marker.length < MARKER_LENGTH_MIN) throw new Error(`"${marker}" is too short to tell processes apart`)
  return commandLines()
    .filter(([pid, command]) => pid !== process.pid && command.includes(marker))
    .map(([pid]) => pid)
}

/** Kills them all. One that ends between the look and the signal is what was wanted. */
export function killAllWith(marker: string): void {
  for (const pid of pidsWith(marker)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

function commandLines(): [pid: number, command: string][] {
  if (existsSync('/proc/self/cmdline')) {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(name => [Number(name), commandLineOf(name)])
  }
  const table = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' })
  return table.split('\n').map(line => [Number.parseInt(line, 10), line])
}

/** Empty for a process that has just gone, and for one that is only waiting to be collected by its parent. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Sends TERM. Resolves when its supervisor has started it again, which is before it is ready. */
export async function restarted(instance: SupervisedProcess): Promise<void> {
  const { pid: before } = instance
  instance.signal('SIGTERM')
  await until(`${instance.name} runs again`, () => instance.pid !== undefined && instance.pid !== before)
}
