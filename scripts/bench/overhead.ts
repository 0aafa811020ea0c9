/** Latency in open loop: requests arrive by the clock, and none is dropped. */
import type { Redis } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { withRedis } from '../start/with-redis.js'
import { assertAllCreated, type LoadResult, runOpenLoop } from './load.js'
import { medians } from './statistics.js'
import type { System } from './systems.js'

export interface OpenLoopRow {
  readonly system: string
  readonly perSecond: number
  readonly result: Pick<LoadResult, 'requests' | 'p50Ms' | 'p99Ms' | 'p999Ms' | 'statuses'>
  /** The longest fsync of its Redis during the measurement (ms). */
  readonly slowestFsyncMs: number
}

/** Latency at rates below the throughput. */
export interface OpenLoopFigures {
  /** Requests/s of the service in closed loop. The curve ends there. */
  readonly throughput: number
  /** The service at rising rates. */
  readonly curve: readonly OpenLoopRow[]
  /** The service and the bare pipeline at half of the service's knee. */
  readonly ownTime: readonly OpenLoopRow[]
}

const OWN_TIME_S = 10
const CURVE_S = 5
/** On a shared machine a p99 differs from run to run. */
const TURNS = 3
const CURVE_SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
const CONNECTIONS = 256
/** After a gigabyte of writes the disk is busy for a while, and each fsync waits. */
const CALM_FSYNC_MS = 20
const CALM_FOR_MS = 10_000
const CALM_DEADLINE_MS = 180_000
/** Redis's latency monitor records no shorter ones. */
const FSYNC_THRESHOLD_MS = 1

/**
 * The latency curve of the service, and its own time with a network that answers at once. The bare pipeline beside it
 * shows the share of the machine: disk and cores. Rejects when a request for an own time was not answered 201.
 */
export async function measureOpenLoop(
  { service, bare }: { readonly service: System; readonly bare: System },
  throughput: number
): Promise<OpenLoopFigures> {
  for (const { redisUrl } of [service, bare]) await withRedis(redisUrl, untilDiskIsCalm)
  const levels = CURVE_SHARES.map(share => ({ system: service, perSecond: share * throughput }))
  const curve = await measureInTurns(levels, CURVE_S)
  const perSecond = kneeOf(curve) / 2
  const systems = [service, bare].map(system => ({ system, perSecond }))
  const ownTime = await measureInTurns(systems, OWN_TIME_S)
  for (const { system, result } of ownTime) assertAllCreated(system, result.requests, result)
  return { throughput, curve, ownTime }
}

/** A system and the rate at which it is measured. */
interface Pace {
  readonly system: System
  readonly perSecond: number
}

/** Medians of several turns. Each turn measures every pace once. */
async function measureInTurns(paces: readonly Pace[], seconds: number): Promise<OpenLoopRow[]> {
  const measured = new Map<Pace, OpenLoopRow[]>(paces.map(pace => [pace, []]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [pace, rows] of measured) rows.push(await measurePace(pace, seconds))
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

async function measurePace({ system, perSecond }: Pace, seconds: number): Promise<OpenLoopRow> {
  const source = await system.prepare(Math.round(perSecond * seconds))
  return await withRedis(system.redisUrl, async redis => {
    await resetLatency(redis)
    const result = await runOpenLoop(system.url, { perSecond, seconds, connections: CONNECTIONS }, source)
    return { system: system.name, perSecond, result, slowestFsyncMs: await slowestFsyncMs(redis) }
  })
}

/**
 * The knee of a curve (arrivals/s): the rate at which throughput divided by latency is greatest (Kleinrock's power).
 * Above it requests wait for each other. It uses p50, which a few slow fsyncs don't move.
 */
export function kneeOf(curve: readonly OpenLoopRow[]): number {
  const power = ({ perSecond, result }: OpenLoopRow): number => perSecond / result.p50Ms
  return curve.reduce((best, row) => (power(row) > power(best) ? row : best)).perSecond
}

/** Waits, for a few minutes at most, until fsyncs are short. */
async function untilDiskIsCalm(redis: Redis): Promise<void> {
  const deadlineMs = performance.now() + CALM_DEADLINE_MS
  do {
    await resetLatency(redis)
    await delay(CALM_FOR_MS)
  } while ((await slowestFsyncMs(redis)) > CALM_FSYNC_MS && performance.now() < deadlineMs)
}

async function resetLatency(redis: Redis): Promise<void> {
  await redis.config('SET', 'latency-monitor-threshold', FSYNC_THRESHOLD_MS)
  await redis.latency('RESET')
}

/** Since `resetLatency`; 0: none took as long as the threshold. */
async function slowestFsyncMs(redis: Redis): Promise<number> {
  const events = (await redis.latency('LATEST')) as [name: string, at: number, lastMs: number, maxMs: number][]
  return Math.max(0, ...events.filter(([name]) => name === 'aof-fsync-always').map(([, , , maxMs]) => maxMs))
}
