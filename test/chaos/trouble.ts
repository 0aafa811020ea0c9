/** Trouble for a running service: kills, stops, silent connections to Redis, and a card network that misbehaves. */
import { delay } from '../../runtime/delay.js'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'
import { type FreezePace, freezeOne } from './freezes.js'
import type { ProxyThread } from './proxy-thread.js'
import type { Recovery } from './recoveries.js'
import { startTamperer, type Tamperer } from './tampering.js'

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

/** A stream is changed by hand while a worker dies. */
const DIES_OF_TAMPERING = 0.6

/**
 * `silenced`: connections to a Redis stay open and carry nothing. `throttled`: a gateway turns every call away. `frozen`: a
 * Redis answers nothing. `tampered`: a stream was changed by hand.
 */
type StrikeKind = 'killed' | 'stopped' | 'silenced' | 'throttled' | 'frozen' | 'tampered'

export interface Strike {
  /** As `performance.now()` tells it. */
  readonly atMs: number
  readonly kind: StrikeKind
  /** Such as `api.1`; of a stream, what was done to it. */
  readonly victim: string
  /** How long a stopped or frozen process sleeps; 0 otherwise. */
  readonly suspendedMs: number
}

export interface Trouble {
  readonly strikes: readonly Strike[]
  readonly recoveries: readonly Recovery[]
  /** No more trouble; what was stopped goes on, and silenced connections are reset. */
  end(): Promise<void>
}

/** What is struck. */
export interface Victims {
  /** Asked before each strike, because restarts change it. */
  readonly processes: () => readonly SupervisedProcess[]
  readonly networkUrl: string
  /** The durable Redis itself, and how many streams of a kind it has. */
  readonly redisUrl: string
  readonly partitions: number
  /** How long it takes from now until every process answers (ms); null: one did not for a minute. */
  readonly backMs: () => Promise<number | null>
  /** Between the processes and a Redis, by the name of the server. */
  readonly proxies: ReadonlyMap<string, ProxyThread>
}

export interface Pace {
  /** The mean time between two strikes. Null: none. */
  readonly strikeEveryMs: number | null
  /** How long a process is stopped; with the calls below the horizon. Null: only kills. */
  readonly stoppedMaxMs: number | null
  /** The time between two silences, of each Redis in turn. Null: none. */
  readonly silenceEveryMs: number | null
  /** The mean time between two changes of a stream. Null: none. */
  readonly tamperEveryMs: number | null
  /** Null: no server freezes. */
  readonly freezes: FreezePace | null
}

/** Starts at once. */
export function makeTrouble(victims: Victims, pace: Pace, random: () => number): Trouble {
  const maker = new TroubleMaker(victims, pace, random)
  maker.start()
  return maker
}

class TroubleMaker implements Trouble {
  readonly strikes: Strike[] = []
  readonly recoveries: Recovery[] = []
  readonly #victims: Victims
  readonly #pace: Pace
  readonly #random: () => number
  readonly #tamperer: Tamperer
  readonly #ending = new AbortController()
  #running: Promise<void>[] = []
  #lastTurn: Promise<unknown> = Promise.resolve()
  #bursts = 0
  #turns = 0
  #silences = 0
  #freezes = 0

  constructor(victims: Victims, pace: Pace, random: () => number) {
    this.#victims = victims
    this.#pace = pace
    this.#random = random
    this.#tamperer = startTamperer(victims.redisUrl, victims.partitions)
  }

  start(): void {
    const { strikeEveryMs, silenceEveryMs, tamperEveryMs, freezes } = this.#pace
    const around = (meanMs: number) => (): number => meanMs * (0.5 + this.#random())
    void putFaults(this.#victims.networkUrl, NETWORK_FAULTS)
    this.#running = [
      ...(strikeEveryMs === null ? [] : [this.#repeat(around(strikeEveryMs), () => this.#strike())]),
      ...(silenceEveryMs === null
        ? []
        : [
            this.#repeat(
              () => silenceEveryMs,
              () => this.#silence()
            )
          ]),
      ...(tamperEveryMs === null ? [] : [this.#repeat(around(tamperEveryMs), () => this.#tamper())]),
      ...(freezes === null ? [] : [this.#repeat(around(freezes.everyMs), () => this.#freeze(freezes))])
    ]
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#running)
    await this.#tamperer.stop()
    for (const process of this.#victims.processes()) process.signal('SIGCONT')
    for (const [, proxy] of this.#victims.proxies) proxy.restore()
  }

  /** One act at a time: nothing else happens until all has come back from a freeze or a silence that is measured. */
  async #repeat(pauseMs: () => number, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await delay(pauseMs(), signal)
      const turn = this.#lastTurn.then(() => (signal.aborted ? undefined : act()))
      this.#lastTurn = turn.catch(() => undefined)
      await turn
    }
  }

  #note(kind: StrikeKind, victim: string, suspendedMs = 0): void {
    this.strikes.push({ atMs: performance.now(), kind, victim, suspendedMs })
  }

  #oneOf<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)]
  }

  async #strike(): Promise<void> {
    const { stoppedMaxMs } = this.#pace
    const running = this.#victims.processes()
    const archive = running.filter(({ name }) => name === 'postgres')
    const victim = this.#oneOf(archive.length > 0 && this.#turns++ % ARCHIVE_EVERY === 0 ? archive : running)
    if (stoppedMaxMs === null || this.#random() < KILL_CHANCE) this.#kill(victim)
    else if (victim?.signal('SIGSTOP') === true) {
      const longestMs = victim.name.includes('redis') ? Math.min(REDIS_STOPPED_MAX_MS, stoppedMaxMs) : stoppedMaxMs
      const stoppedMs = 200 + longestMs * this.#random()
      this.#note('stopped', victim.name, stoppedMs)
      void delay(stoppedMs, this.#ending.signal).then(() => victim.signal('SIGCONT'))
    }
    await putFaults(this.#victims.networkUrl, this.#nextFaults())
  }

  #kill(victim: SupervisedProcess | undefined): void {
    if (victim?.signal('SIGKILL') === true) this.#note('killed', victim.name)
  }

  #nextFaults(): object {
    if (this.#random() >= BURST_CHANCE) return NETWORK_FAULTS
    this.#note('throttled', 'network')
    return BURSTS[this.#bursts++ % BURSTS.length] ?? NETWORK_FAULTS
  }

  /** The servers take turns. Of each, every second silence is measured; the other ones come amid strikes. */
  async #silence(): Promise<void> {
    const { proxies, backMs } = this.#victims
    const turn = this.#silences++
    const [victim, proxy] = [...proxies][turn % proxies.size] ?? []
    if (victim === undefined) return
    const isMeasured = Math.floor(turn / proxies.size) % 2 === 0
    // What was struck before is back.
    if (isMeasured) await backMs()
    proxy?.blackhole()
    this.#note('silenced', victim)
    if (isMeasured) this.recoveries.push({ from: 'silenced', victim, lastedMs: [], backMs: await backMs() })
  }

  async #tamper(): Promise<void> {
    const way = await this.#tamperer.tamper(this.#random)
    if (way === null) return
    this.#note('tampered', way)
    const workers = this.#victims.processes().filter(({ name }) => /^payments\./.test(name))
    if (this.#random() < DIES_OF_TAMPERING) this.#kill(this.#oneOf(workers))
  }

  async #freeze(pace: FreezePace): Promise<void> {
    const { processes, backMs } = this.#victims
    const { signal } = this.#ending
    // What was struck before is back.
    await backMs()
    const note = (victim: string, frozenMs: number): void => this.#note('frozen', victim, frozenMs)
    const stage = { processes, backMs, random: this.#random, signal, note }
    const recovery = await freezeOne(stage, pace, this.#freezes++)
    if (recovery !== undefined) this.recoveries.push(recovery)
  }
}

/** How often each kind of strike hit each class of process, such as `api`. */
export function countStrikes(strikes: readonly Strike[]): Record<StrikeKind, Record<string, number>> {
  const counts: Record<StrikeKind, Record<string, number>> = {
    killed: {},
    stopped: {},
    silenced: {},
    throttled: {},
    frozen: {},
    tampered: {}
  }
  for (const { kind, victim } of strikes) {
    const [name = ''] = victim.split('.')
    counts[kind][name] = (counts[kind][name] ?? 0) + 1
  }
  return counts
}

/** Replaces the whole fault set of the simulator, if it runs just now. */
export async function putFaults(networkUrl: string, faults: object, maxMs = 1_000): Promise<void> {
  await fetch(`${networkUrl}/simulator/faults`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(faults),
    signal: AbortSignal.timeout(maxMs)
  }).catch(() => undefined)
}
