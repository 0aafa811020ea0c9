/** What more processes bring on the cores at hand: throughput for several numbers of workers and APIs. */
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { runClosedLoop } from './load.js'
import { type Spread, spread } from './statistics.js'
import { type ServiceSystem, startService } from './systems.js'

export interface ScalingRow {
  readonly api: number
  readonly payments: number
  readonly perSecond: Spread
}

const SHAPES = [
  { api: 1, payments: 1 },
  { api: 1, payments: 2 },
  { api: 1, payments: 4 },
  { api: 2, payments: 1 },
  { api: 2, payments: 2 }
] as const
const ROUNDS = 3

/** Starts the service anew for each shape: shapes that run beside each other would share the cores. */
export async function measureScaling(
  parentDir: string,
  options: { total: number; connections: number },
  tell: (line: string) => void
): Promise<ScalingRow[]> {
  const rows: ScalingRow[] = []
  for (const shape of SHAPES) {
    const name = `api=${shape.api} payments=${shape.payments}`
    const scale = name.split(' ')
    const place = await temporaryFolder('payments-bench-', parentDir)
    const service = await startService(place.path, { env: {}, scale, write: () => undefined })
    try {
      const rates: number[] = []
      // The first round warms up.
      for (let round = 0; round <= ROUNDS; round++) rates.push(await measureOnce(service, options))
      const perSecond = spread(rates.slice(1))
      tell(`scaling: ${name} ${perSecond.median.toFixed(0)}/s`)
      rows.push({ ...shape, perSecond })
    } finally {
      await service.stop()
      await place.remove()
    }
  }
  return rows
}

/** All API processes at once, each with its share of connections and requests. */
async function measureOnce(service: ServiceSystem, options: { total: number; connections: number }): Promise<number> {
  const { apiUrls } = service
  const source = await service.prepare(options.total)
  const share = Math.floor(options.total / apiUrls.length)
  const startMs = performance.now()
  await Promise.all(
    apiUrls.map((url, at) =>
      runClosedLoop(url, { total: share, connections: Math.floor(options.connections / apiUrls.length) }, index =>
        source(at * share + index)
      )
    )
  )
  return (share * apiUrls.length * 1_000) / (performance.now() - startMs)
}
