/** Times in open loop: arrivals by the clock, none dropped; they count from the moment a request was due. */
import { untilDiskIsCalm, watchingFsync, withRedis } from './disk.js'
import { assertAllCreated, type LoadResult, runOpenLoop } from './load.js'
import { medians } from './statistics.js'
import type { ServiceSystem, System } from './systems.js'

export interface OpenLoopRow {
  readonly system: string
  readonly perSecond: number
  readonly result: Pick<LoadResult, 'requests' | 'p50Ms' | 'p99Ms' | 'p999Ms' | 'statuses'>
  /** The longest that its Redis waited for an fsync meanwhile (ms). */
  readonly slowestFsyncMs: number
}

/** A system and the rate at which it is measured. */
export interface Pace {
  readonly system: System
  readonly perSecond: number
}

const SECONDS = 10
/** The slowest of a hundred is a matter of the moment, on a machine that is shared. */
const TURNS = 3

/**
 * The own times of systems with a network that answers at once: medians of several turns, in each of which every pace has
 * its measurement. Rejects when an answer was not 201.
 */
export async function measureOwnTimes(paces: readonly Pace[]): Promise<OpenLoopRow[]> {
  for (const { system } of paces) await withRedis(system.redisUrl, untilDiskIsCalm)
  const measured = new Map<Pace, OpenLoopRow[]>(paces.map(pace => [pace, []]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const pace of paces) measured.get(pace)?.push(await measureOwnTime(pace))
  }
  return [...measured].map(([{ system, perSecond }, rows]) => {
    const { slowestFsyncMs, ...times } = medians(
      ['p50Ms', 'p99Ms', 'p999Ms', 'slowestFsyncMs'],
      rows.map(({ result, slowestFsyncMs }) => ({ ...result, slowestFsyncMs }))
    )
    const requests = rows.reduce((sum, { result }) => sum + result.requests, 0)
    return {
      system: system.name,
      perSecond,
      result: { ...times, requests, statuses: { 201: requests } },
      slowestFsyncMs
    }
  })
}

async function measureOwnTime(pace: Pace): Promise<OpenLoopRow> {
  const row = await measurePace(pace)
  assertAllCreated(row.system, row.result.requests, row.result)
  return row
}

async function measurePace({ system, perSecond }: Pace): Promise<OpenLoopRow> {
  const source = await system.prepare(Math.round(perSecond * SECONDS))
  const options = { perSecond, seconds: SECONDS, connections: 256 }
  const [result, slowestFsyncMs] = await watchingFsync(system.redisUrl, () => runOpenLoop(system.url, options, source))
  return { system: system.name, perSecond, result, slowestFsyncMs }
}

const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

/** How times grow with what arrives, up to the throughput of the closed loop. */
export async function measureCurve(system: System, throughputPerSecond: number): Promise<OpenLoopRow[]> {
  await withRedis(system.redisUrl, untilDiskIsCalm)
  const rows: OpenLoopRow[] = []
  for (const share of SHARES) rows.push(await measurePace({ system, perSecond: share * throughputPerSecond }))
  return rows
}

/**
 * The knee of such a curve (arrivals/s): where the throughput over the time of a request is at its greatest (Kleinrock's
 * power). Below it the machine has more to give, above it requests wait for each other. By the median, which a few slow
 * fsyncs don't move.
 */
export function kneeOf(curve: readonly OpenLoopRow[]): number {
  const power = ({ perSecond, result }: OpenLoopRow): number => perSecond / result.p50Ms
  return curve.reduce((best, row) => (power(row) > power(best) ? row : best)).perSecond
}

/** The service with a real acquirer's times: median 1.5 s, 1 % beyond 8 s. What is left above them is ours. */
export async function measureWithSlowNetwork(
  service: ServiceSystem,
  options: { perSecond: number; seconds: number }
): Promise<OpenLoopRow> {
  await setLatency(service, { median: 1_500, p99: 8_000 })
  try {
    const total = Math.round(options.perSecond * options.seconds)
    const source = await service.prepare(total)
    const [result, slowestFsyncMs] = await watchingFsync(service.redisUrl, () =>
      runOpenLoop(service.url, { ...options, connections: 2_000 }, source)
    )
    return { system: service.name, perSecond: options.perSecond, result, slowestFsyncMs }
  } finally {
    await setLatency(service, 0)
  }
}

async function setLatency(service: ServiceSystem, latency: number | { median: number; p99: number }): Promise<void> {
  const answer = await fetch(`${service.demo.network_url}/simulator/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ latency_ms: latency })
  })
  if (!answer.ok) throw new Error(`The simulator refused the latency: ${await answer.text()}`)
}
