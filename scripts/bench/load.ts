/**
 * The load generator, the same for every system that is measured.
 *
 * Closed loop, for throughput: each of a fixed number of connections sends its next request after the last answer.
 * Open loop, for latency: requests start by the clock, also while earlier ones are unanswered. Latency counts from the
 * millisecond in which a request was due, because the generator's timer has no finer resolution.
 */
import { Pool } from 'undici'
import { quantile } from './statistics.js'

/** A POST. */
export interface LoadRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
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
    while (next < options.total) {
      const beganMs = performance.now()
      recorder.note(await send(pool, source(next++)), performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: options.connections }, client))
  const result = recorder.result()
  await pool.close()
  return result
}

/** Requests by the clock: a rate and a duration. */
export interface Arrivals {
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
}

/** Latency under requests by the clock: sends every request, and waits for every answer. */
export async function runOpenLoop(
  url: string,
  { perSecond, seconds, connections }: Arrivals,
  source: RequestSource
): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: READY_MS })
  const total = Math.round(perSecond * seconds)
  const recorder = new Recorder(total)
  const sendDue = async (request: LoadRequest, dueMs: number): Promise<void> =>
    recorder.note(await send(pool, request), performance.now() - dueMs)
  const startMs = performance.now()
  const running: Promise<void>[] = []
  await new Promise<void>(resolve => {
    let index = 0
    const tick = setInterval(() => {
      const dueMs = performance.now() - startMs
      while (index < total && (index * 1_000) / perSecond <= dueMs) {
        // Timed from when it was due: a request that waited for its turn was slow.
        const plannedMs = startMs + (index * 1_000) / perSecond + TICK_MS
        running.push(sendDue(source(index++), Math.min(plannedMs, performance.now())))
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

  note(status: number, tookMs: number): void {
    this.#latencies[this.#count++] = tookMs
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
  }

  result(): LoadResult {
    const elapsedMs = performance.now() - this.#startMs
    const sorted = this.#latencies.subarray(0, this.#count).sort()
    return {
      requests: this.#count,
      elapsedMs,
      perSecond: (this.#count * 1_000) / elapsedMs,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      p999Ms: quantile(sorted, 0.999),
      statuses: this.#statuses
    }
  }
}

/** The status of the answer, after its whole body; 0 when there was none. */
function send(pool: Pool, request: LoadRequest): Promise<number> {
  return new Promise(resolve => {
    let status = 0
    pool.dispatch(
      { method: 'POST', path: request.path, headers: { ...request.headers }, body: request.body },
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
