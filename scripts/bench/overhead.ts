/** Times in open loop: arrivals by the clock, none dropped; they count from the moment a request was due. */
import { type LoadResult, runOpenLoop } from './load.js'
import type { ServiceSystem, System } from './systems.js'

export interface OpenLoopRow {
  readonly system: string
  readonly perSecond: number
  readonly result: LoadResult
}

const SECONDS = 10

/** A system's own time at a rate, with a network that answers at once. Rejects when an answer was not 201. */
export async function measureOwnTime(system: System, perSecond: number): Promise<OpenLoopRow> {
  const total = Math.round(perSecond * SECONDS)
  const source = await system.prepare(total)
  const result = await runOpenLoop(system.url, { perSecond, seconds: SECONDS, connections: 256 }, source)
  if (result.statuses['201'] !== total) {
    throw new Error(`${system.name} did not answer 201 to all ${total} requests: ${JSON.stringify(result.statuses)}`)
  }
  return { system: system.name, perSecond, result }
}

/** The service with a real acquirer's times: median 1.5 s, 1 % beyond 8 s. What is left above them is ours. */
export async function measureWithSlowNetwork(
  service: ServiceSystem,
  options: { perSecond: number; seconds: number }
): Promise<OpenLoopRow> {
  await setLatency(service, { median: 1_500, p99: 8_000 })
  try {
    const total = Math.round(options.perSecond * options.seconds)
    const result = await runOpenLoop(service.url, { ...options, connections: 2_000 }, await service.prepare(total))
    return { system: service.name, perSecond: options.perSecond, result }
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
