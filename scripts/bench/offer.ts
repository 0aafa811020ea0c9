/** Requests offered by the clock, regardless of their answers; counts paid and refused ones apart. */
import { readFigure } from './costs.js'
import { sendByTheClock } from './load.js'
import { quantile } from './statistics.js'
import type { ServiceSystem } from './systems.js'

interface Share {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Offered {
  readonly paid: Share
  readonly refused: Share
  /** Any other status, and how often; 0 is "no answer". */
  readonly others: Readonly<Record<string, number>>
  /** The most memory that the `api` process had (RSS). */
  readonly apiMib: number
}

/** Enough that requests wait at the service and not here. */
const CONNECTIONS = 3_000
const RSS_POLL_MS = 200

/** Offers `perSecond` payments for `seconds`, and waits for all answers. */
export async function offer(
  service: ServiceSystem,
  { perSecond, seconds }: { perSecond: number; seconds: number }
): Promise<Offered> {
  const source = await service.prepare(Math.round(perSecond * seconds))
  const times = new Map<number, number[]>()
  const note = (status: number, tookMs: number): void => {
    const list = times.get(status) ?? []
    times.set(status, list)
    list.push(tookMs)
  }
  let apiMib = 0
  const watch = setInterval(() => {
    void apiMemory(service).then(mib => {
      apiMib = Math.max(apiMib, mib)
    })
  }, RSS_POLL_MS)
  const startMs = performance.now()
  await sendByTheClock(service.url, { perSecond, seconds, connections: CONNECTIONS }, source, note)
  clearInterval(watch)
  const elapsedS = (performance.now() - startMs) / 1_000
  const shareOf = (status: number): Share => {
    const list = (times.get(status) ?? []).sort((a, b) => a - b)
    return { perSecond: list.length / elapsedS, p50Ms: quantile(list, 0.5), p99Ms: quantile(list, 0.99) }
  }
  const others = [...times].filter(([status]) => status !== 201 && status !== 503)
  return {
    paid: shareOf(201),
    refused: shareOf(503),
    others: Object.fromEntries(others.map(([status, list]) => [status, list.length])),
    apiMib
  }
}

/** 0 while the process is too busy to answer. */
async function apiMemory(service: ServiceSystem): Promise<number> {
  const bytes = await readFigure(service.dataDir, 'api.1', 'process_resident_memory_bytes').catch(() => 0)
  return bytes / 2 ** 20
}
