/** Trouble for a running service: kills, stops, silent connections to Redis, and a card network that misbehaves. */
import { delay } from '../../runtime/delay.js'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'
import type { ProxyThread } from './proxy-thread.js'

/** A fifth of the network's answers are lost, late or errors. */
const NETWORK_FAULTS = {
  drop_before: 0.05,
  drop_after: 0.05,
  error_before: 0.03,
  error_after: 0.03,
  late: 0.04,
  late_ms: 2_500,
  latency_ms: { median: 20, p99: 300 }
}
/** Now and then a gateway turns everything away until the next strike. */
const BURSTS = [{ throttle: 1 }, { gateway_down: 1 }] as const
const BURST_CHANCE = 0.15
/** Strikes that kill; the others stop a process for a while. */
const KILL_CHANCE = 0.7
/** One server among many processes: with an archive, every so many strikes hit PostgreSQL, so that a short run has some. */
const ARCHIVE_EVERY = 5
/** A Redis that is only stopped for longer than a command may take is as bad as a dead one; both are tried. */
const REDIS_STOPPED_MAX_MS = 2_000

/** `silenced`: connections to a Redis stay open and carry nothing. `throttled`: a gateway turns every call away. */
type StrikeKind = 'killed' | 'stopped' | 'silenced' | 'throttled'

export interface Strike {
  /** As `performance.now()` tells it. */
  readonly atMs: number
  readonly kind: StrikeKind
  /** Such as `api.1`. */
  readonly victim: string
  /** How long a stopped process sleeps; 0 otherwise. */
  readonly suspendedMs: number
}

export interface Trouble {
  readonly strikes: readonly Strike[]
  /** No more trouble; what was stopped goes on, and silenced connections are reset. */
  end(): Promise<void>
}

/** What is struck. */
export interface Victims {
  /** Asked before each strike, because restarts change it. */
  readonly processes: () => readonly SupervisedProcess[]
  readonly networkUrl: string
  /** Between the processes and a Redis, by the name of the server. */
  readonly proxies: ReadonlyMap<string, ProxyThread>
}

export interface Pace {
  /** The mean time between two strikes. */
  readonly strikeEveryMs: number
  /** How long a process is stopped; with the calls below the horizon. Null: only kills. */
  readonly stoppedMaxMs: number | null
  /** The time between two silences, of each Redis in turn. Null: none. */
  readonly silenceEveryMs: number | null
}

/** Starts at once. */
export function makeTrouble(
  { processes, networkUrl, proxies }: Victims,
  { strikeEveryMs, stoppedMaxMs, silenceEveryMs }: Pace,
  random: () => number
): Trouble {
  const ending = new AbortController()
  const strikes: Strike[] = []
  const note = (kind: StrikeKind, victim: string, suspendedMs = 0): void =>
    void strikes.push({ atMs: performance.now(), kind, victim, suspendedMs })
  let bursts = 0
  let turns = 0
  const nextFaults = (): object => {
    // A payment in doubt ends only once the network has booked a sale.
    if (strikes.length === 0 || random() >= BURST_CHANCE) return NETWORK_FAULTS
    note('throttled', 'network')
    return BURSTS[bursts++ % BURSTS.length] ?? NETWORK_FAULTS
  }
  const strike = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await putFaults(networkUrl, nextFaults())
      await delay(strikeEveryMs * (0.5 + random()), ending.signal)
      if (ending.signal.aborted) return
      const running = processes()
      const archive = running.filter(({ name }) => name === 'postgres')
      const all = archive.length > 0 && turns++ % ARCHIVE_EVERY === 0 ? archive : running
      const victim = all[Math.floor(random() * all.length)]
      if (victim === undefined) continue
      if (stoppedMaxMs === null || random() < KILL_CHANCE) {
        if (victim.signal('SIGKILL')) note('killed', victim.name)
      } else if (victim.signal('SIGSTOP')) {
        const longestMs = victim.name.includes('redis') ? Math.min(REDIS_STOPPED_MAX_MS, stoppedMaxMs) : stoppedMaxMs
        const stoppedMs = 200 + longestMs * random()
        note('stopped', victim.name, stoppedMs)
        void delay(stoppedMs, ending.signal).then(() => victim.signal('SIGCONT'))
      }
    }
  }
  const silence = async (everyMs: number): Promise<void> => {
    while (!ending.signal.aborted) {
      for (const [name, proxy] of proxies) {
        await delay(everyMs, ending.signal)
        if (ending.signal.aborted) return
        proxy.blackhole()
        note('silenced', name)
      }
    }
  }
  const running = [strike(), ...(silenceEveryMs === null ? [] : [silence(silenceEveryMs)])]
  return {
    strikes,
    async end() {
      ending.abort()
      await Promise.all(running)
      for (const process of processes()) process.signal('SIGCONT')
      for (const [, proxy] of proxies) proxy.restore()
    }
  }
}

/** How often each kind of strike hit each class of process, such as `api`. */
export function countStrikes(strikes: readonly Strike[]): Record<StrikeKind, Record<string, number>> {
  const counts: Record<StrikeKind, Record<string, number>> = { killed: {}, stopped: {}, silenced: {}, throttled: {} }
  for (const { kind, victim } of strikes) {
    const [name = ''] = victim.split('.')
    counts[kind][name] = (counts[kind][name] ?? 0) + 1
  }
  return counts
}

/** No trouble but what the service was told to make itself. */
export function noTrouble(): Trouble {
  return { strikes: [], end: () => Promise.resolve() }
}

/** Replaces the whole fault set of the simulator, if it runs just now. */
export async function putFaults(networkUrl: string, faults: object): Promise<void> {
  await fetch(`${networkUrl}/simulator/faults`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(faults),
    signal: AbortSignal.timeout(1_000)
  }).catch(() => undefined)
}
