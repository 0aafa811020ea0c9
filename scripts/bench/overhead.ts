/** Times in open loop: arrivals by the clock, none dropped; they count from the moment a request was due. */
import { untilDiskIsCalm, watchingFsync } from './disk.js'
import { assertAllCreated, type LoadResult, runOpenLoop } from './load.js'
import { medians } from './statistics.js'
import type { ServiceSystem, System } from './systems.js'
import { withRedis } from './with-redis.js'

export interface OpenLoopRow {
  readonly system: string
  readonly perSecond: number
  readonly result: Pick<LoadResult, 'requests' | 'p50Ms' | 'p99Ms' | 'p999Ms' | 'statuses'>
  /** The longest that its Redis waited for an fsync meanwhile (ms). */
  readonly slowestFsyncMs: number
}

/** What a system does at rates below its throughput. */
export interface OpenLoopFigures {
  /** Requests/s of the closed loop, from which the rates are taken. */
  readonly throughput: { readonly service: number; readonly bare: number }
  /** The service, the more the more arrives. */
  readonly curve: readonly OpenLoopRow[]
  /** The service and the bare pipeline at half of the service's knee, and at half of their throughput. */
  readonly ownTime: readonly OpenLoopRow[]
}

const OWN_TIME_S = 10
const CURVE_S = 5
/** The slowest of a hundred is a matter of the moment, on a machine that is shared. */
const TURNS = 3
const CURVE_SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

/**
 * How times grow with what arrives, and the own times, with a network that answers at once. The bare pipeline beside the
 * service tells what the machine takes: its disk, and its cores that all of this shares. Rejects when an answer to a
 * request of which an own time is made was not 201.
 */
export async function measureOpenLoop(
  { service, bare }: { readonly service: System; readonly bare: System },
  throughput: OpenLoopFigures['throughput']
): Promise<OpenLoopFigures> {
  for (const { redisUrl } of [service, bare]) await withRedis(redisUrl, untilDiskIsCalm)
  const levels = CURVE_SHARES.map(share => ({ system: service, perSecond: share * throughput.service }))
  const curve = await measureInTurns(levels, CURVE_S)
  const ownTime = await measureInTurns(
    [
      { system: service, perSecond: kneeOf(curve) / 2 },
      { system: bare, perSecond: kneeOf(curve) / 2 },
      { system: service, perSecond: throughput.service / 2 },
      { system: bare, perSecond: throughput.service / 2 },
      { system: bare, perSecond: throughput.bare / 2 }
    ],
    OWN_TIME_S
  )
  for (const { system, result } of ownTime) assertAllCreated(system, result.requests, result)
  return { throughput, curve, ownTime }
}

/** A system and the rate at which it is measured. */
interface Pace {
  readonly system: System
  readonly perSecond: number
}

/** Medians of several turns, in each of which every pace has its measurement. */
async function measureInTurns(paces: readonly Pace[], seconds: number): Promise<OpenLoopRow[]> {
  const measured = new Map<Pace, OpenLoopRow[]>(paces.map(pace => [pace, []]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const pace of paces) measured.get(pace)?.push(await measurePace(pace, seconds))
  }
  return [...measured.values()].map(medianRow)
}

function medianRow(rows: readonly OpenLoopRow[]): OpenLoopRow {
  const [first] = rows
  if (first === undefined) throw new Error('unreachable: every pace was measured')
  const { slowestFsyncMs, ...times } = medians(
    ['p50Ms', 'p99Ms', 'p999Ms', 'slowestFsyncMs'],
    rows.map(({ result, slowestFsyncMs }) => ({ ...result, slowestFsyncMs }))
  )
  const statuses: Record<string, number> = {}
  for (const [status, count] of rows.flatMap(({ result }) => Object.entries(result.statuses))) {
    statuses[status] = (statuses[status] ?? 0) + count
  }
  const requests = rows.reduce((sum, { result }) => sum + result.requests, 0)
  return { ...first, result: { ...times, requests, statuses }, slowestFsyncMs }
}

async function measurePace({ system, perSecond }: Pace, seconds: number, connections = 256): Promise<OpenLoopRow> {
  const source = await system.prepare(Math.round(perSecond * seconds))
  const options = { perSecond, seconds, connections }
  const [result, slowestFsyncMs] = await watchingFsync(system.redisUrl, () => runOpenLoop(system.url, options, source))
  return { system: system.name, perSecond, result, slowestFsyncMs }
}

/**
 * The knee of a curve (arrivals/s): where the throughput over the time of a request is at its greatest (Kleinrock's
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
  { perSecond, seconds }: { perSecond: number; seconds: number }
): Promise<OpenLoopRow> {
  await setLatency(service, { median: 1_500, p99: 8_000 })
  try {
    return await measurePace({ system: service, perSecond }, seconds, 2_000)
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
