/**
 * Servers that freeze, as when a virtual machine is paused or a disk stalls: the kernel keeps their connections and takes new
 * ones, and nothing is answered. Once they return, every process has to answer again without a person.
 */
import { delay } from '../../runtime/delay.js'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'

/** From the return of a server to the answers of all processes (ms). */
const BACK_MAX_MS = 5_000
/** Between two freezes of a row. */
const GAP_MAX_MS = 3_000
const SERVERS = ['redis', 'secrets-redis'] as const

export interface FreezePace {
  /** The mean time from the return of one server to the freeze of the next. */
  readonly everyMs: number
  readonly shortestMs: number
  /** Most are far shorter. */
  readonly longestMs: number
  /** A server freezes up to so many times in a row. */
  readonly inARowMax: number
}

/** One server that froze, once or several times in a row. */
export interface Freeze {
  readonly victim: string
  readonly frozenMs: readonly number[]
  /** From its return to the answers of all processes; null: some did not answer for a minute. */
  readonly backMs: number | null
}

export interface FreezeStage {
  readonly processes: () => readonly SupervisedProcess[]
  /** How long it takes from now until every process answers (ms); null: one did not for a minute. */
  readonly backMs: () => Promise<number | null>
  readonly random: () => number
  readonly note: (victim: string, frozenMs: number) => void
  readonly signal: AbortSignal
}

/** Freezes a server, once or several times, and waits until every process answers again. `turn`: the servers take turns. */
export async function freezeOne(stage: FreezeStage, pace: FreezePace, turn: number): Promise<Freeze> {
  const { processes, random, note, signal } = stage
  const victim = SERVERS[turn % SERVERS.length] ?? 'redis'
  const server = processes().find(({ name }) => name === victim)
  const frozenMs: number[] = []
  const times = 1 + Math.floor(random() * pace.inARowMax)
  for (let time = 0; time < times && !signal.aborted; time++) {
    if (time > 0) await delay(GAP_MAX_MS * random(), signal)
    const lastsMs = pace.shortestMs + (pace.longestMs - pace.shortestMs) * random() ** 2
    if (server?.signal('SIGSTOP') !== true) break
    note(victim, lastsMs)
    frozenMs.push(Math.round(lastsMs))
    await delay(lastsMs, signal)
    server.signal('SIGCONT')
  }
  return { victim, frozenMs, backMs: await stage.backMs() }
}

/** The longest time that the service took to come back; null: nothing froze. */
export function longestBackMs(freezes: readonly Freeze[]): number | null {
  return freezes.length === 0 ? null : Math.max(...freezes.map(({ backMs }) => backMs ?? Number.POSITIVE_INFINITY))
}

/** The freezes after which a process took too long to answer. */
export function lateAfterFreezes(freezes: readonly Freeze[]): string[] {
  return freezes
    .filter(({ backMs }) => backMs === null || backMs > BACK_MAX_MS)
    .map(({ victim, frozenMs, backMs }) => {
      const back = backMs === null ? 'some process did not answer for a minute' : `all answered after ${backMs} ms`
      return `${victim} was frozen for ${frozenMs.join(', ')} ms: ${back}`
    })
}
