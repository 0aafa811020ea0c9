/** Trouble for a running service: kills, stops, and a card network that misbehaves. */
import { delay } from '../../runtime/delay.js'
import type { SupervisedProcess } from '../supervisor/supervised-process.js'

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
/** A Redis that is only stopped for longer than a command may take is as bad as a dead one; both are tried. */
const REDIS_STOPPED_MAX_MS = 2_000

export interface Strike {
  /** As `performance.now()` tells it. */
  readonly atMs: number
  /** Such as `killed api.1`. */
  readonly what: string
  /** How long the process sleeps; 0: it was killed. */
  readonly asleepMs: number
}

export interface Trouble {
  /** How often each class was killed or stopped. */
  readonly kills: Readonly<Record<string, number>>
  readonly stops: Readonly<Record<string, number>>
  readonly strikes: readonly Strike[]
  /** How often the gateway of the network answered everything with 429 or 503 for a while. */
  bursts(): number
  /** No more trouble; what was stopped goes on. */
  end(): Promise<void>
}

/** Starts at once. `processes` is asked before each strike, because restarts change it. */
export function makeTrouble(
  processes: () => readonly SupervisedProcess[],
  networkUrl: string,
  /** `everyMs`: the mean time between two strikes. `stoppedMaxMs` null: only kills. */
  { everyMs, stoppedMaxMs }: { readonly everyMs: number; readonly stoppedMaxMs: number | null },
  random: () => number
): Trouble {
  const ending = new AbortController()
  const kills: Record<string, number> = {}
  const stops: Record<string, number> = {}
  const strikes: Strike[] = []
  let bursts = 0
  const nextFaults = (): object => {
    if (random() >= BURST_CHANCE) return NETWORK_FAULTS
    return BURSTS[bursts++ % BURSTS.length] ?? NETWORK_FAULTS
  }
  const strike = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await putFaults(networkUrl, nextFaults())
      await delay(everyMs * (0.5 + random()), ending.signal)
      if (ending.signal.aborted) return
      const all = processes()
      const victim = all[Math.floor(random() * all.length)]
      if (victim === undefined) continue
      const kind = victim.name.split('.')[0] ?? victim.name
      if (stoppedMaxMs === null || random() < KILL_CHANCE) {
        if (!victim.signal('SIGKILL')) continue
        kills[kind] = (kills[kind] ?? 0) + 1
        strikes.push({ atMs: performance.now(), what: `killed ${victim.name}`, asleepMs: 0 })
      } else if (victim.signal('SIGSTOP')) {
        stops[kind] = (stops[kind] ?? 0) + 1
        const longestMs = kind.includes('redis') ? Math.min(REDIS_STOPPED_MAX_MS, stoppedMaxMs) : stoppedMaxMs
        const stoppedMs = 200 + longestMs * random()
        strikes.push({ atMs: performance.now(), what: `stopped ${victim.name}`, asleepMs: stoppedMs })
        void delay(stoppedMs, ending.signal).then(() => victim.signal('SIGCONT'))
      }
    }
  }
  const running = strike()
  return {
    kills,
    stops,
    strikes,
    bursts: () => bursts,
    async end() {
      ending.abort()
      await running
      for (const process of processes()) process.signal('SIGCONT')
    }
  }
}

/** No trouble but what the service was told to make itself. */
export function noTrouble(): Trouble {
  return { kills: {}, stops: {}, strikes: [], bursts: () => 0, end: () => Promise.resolve() }
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
