/**
 * Servers that freeze, as when a virtual machine is paused or a disk stalls: the kernel keeps their connections and takes new
 * ones, and nothing is answered. Once they return, every process has to answer again without a person.
 */
import { delay } from '../../runtime/delay.js'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'
import type { Recovery } from './recoveries.js'

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

export interface FreezeStage {
  readonly processes: () => readonly SupervisedProcess[]
  /** How long it takes from now until every process answers (ms); null: one did not for a minute. */
  readonly backMs: () => Promise<number | null>
  readonly random: () => number
  readonly note: (victim: string, frozenMs: number) => void
  readonly signal: AbortSignal
}

/**
 * Freezes a server, once or several times, and waits until every process answers again. Undefined: the run ended before. `turn`:
 * the servers take turns.
 */
export async function freezeOne(stage: FreezeStage, pace: FreezePace, turn: number): Promise<Recovery | undefined> {
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
  if (frozenMs.length === 0 || signal.aborted) return undefined
  const backMs = await stage.backMs()
  return signal.aborted ? undefined : { from: 'frozen', victim, lastedMs: frozenMs, backMs }
}
