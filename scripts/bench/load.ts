/**
 * The load generator, the same for every system that is measured.
 *
 * Closed loop: a fixed number of connections, each sends its next request when the last one is answered: throughput.
 * Open loop: requests start by the clock, whether the earlier ones were answered or not: latency that hides nothing.
 * They count from the millisecond in which they are due: timers know no finer one, and what a request waits for the
 * generator's own timer is not the time of the system that is measured.
 */
import { Pool } from 'undici'

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface LoadResult {
  readonly requests: number
  readonly elapsedMs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** How often each status was answered; 0 is "no answer". */
  readonly statuses: Readonly<Record<string, number>>
}

export type RequestSource = (index: number) => LoadRequest

const READY_MS = 60_000
const TICK_MS = 1

/** `total` requests over `connections` connections. */
export async function runClosedLoop(
  url: string,
  options: { total: number; connections: number },
  source: RequestSource
): Promise<LoadResult> {
  const pool = new Pool(url, { connections: options.connections, pipelining: 1, headersTimeout: READY_MS })
  const recorder = new Recorder(options.total)
  let next = 0
  const client = async (): Promise<void> => {
    while (next < options.total) await recorder.time(pool, source(next++))
  }
  await Promise.all(Array.from({ length: options.connections }, client))
  const result = recorder.result()
  await pool.close()
  return result
}

/** `perSecond` requests each second for `seconds`; every one is sent, and waited for. */
export async function runOpenLoop(
  url: string,
  options: { perSecond: number; seconds: number; connections: number },
  source: RequestSource
): Promise<LoadResult> {
  const pool = new Pool(url, { connections: options.connections, pipelining: 1, headersTimeout: READY_MS })
  const total = Math.round(options.perSecond * options.seconds)
  const recorder = new Recorder(total)
  const startMs = performance.now()
  const running: Promise<void>[] = []
  await new Promise<void>(resolve => {
    let index = 0
    const tick = setInterval(() => {
      const dueMs = performance.now() - startMs
      while (index < total && (index * 1_000) / options.perSecond <= dueMs) {
        // Timed from when it was due: a request that had to wait for its turn is slow, not absent.
        const plannedMs = startMs + (index * 1_000) / options.perSecond + TICK_MS
        running.push(recorder.time(pool, source(index++), Math.min(plannedMs, performance.now())))
      }
      if (index === total) {
        clearInterval(tick)
        resolve()
      }
    }, TICK_MS)
  })
  await Promise.all(running)
  const result = recorder.result()
  await pool.close()
  return result
}

/** Throws unless every request was answered 201: a failed request is not a fast one. */
export function assertAllCreated(system: string, total: number, { statuses }: Pick<LoadResult, 'statuses'>): void {
  if (statuses['201'] === total) return
  throw new Error(`${system} did not answer 201 to all ${total} requests: ${JSON.stringify(statuses)}`)
}

class Recorder {
  readonly #latencies: Float64Array
  readonly #statuses: Record<string, number> = {}
  readonly #startMs = performance.now()
  #count = 0

  constructor(total: number) {
    this.#latencies = new Float64Array(total)
  }

  async time(pool: Pool, request: LoadRequest, fromMs = performance.now()): Promise<void> {
    const status = await send(pool, request)
    this.#latencies[this.#count++] = performance.now() - fromMs
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
  }

  result(): LoadResult {
    const elapsedMs = performance.now() - this.#startMs
    const sorted = this.#latencies.subarray(0, this.#count).sort()
    const at = (share: number): number => sorted[Math.min(Math.floor(share * this.#count), this.#count - 1)] ?? 0
    return {
      requests: this.#count,
      elapsedMs,
      perSecond: (this.#count * 1_000) / elapsedMs,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      p999Ms: at(0.999),
      statuses: this.#statuses
    }
  }
}

/** The status of the answer, after its whole body; 0 when there was none. */
function send(pool: Pool, request: LoadRequest): Promise<number> {
  return new Promise(resolve => {
    let status = 0
    pool.dispatch(
      { method: request.method, path: request.path, headers: { ...request.headers }, body: request.body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode
        },
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(status),
        onResponseError: () => resolve(0)
      }
    )
  })
}
