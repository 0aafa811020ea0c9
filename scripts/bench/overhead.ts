/** The service's own time: open loop at half of what it can do, with a network that answers at once. */
import { type LoadResult, runOpenLoop } from './load.js'
import type { ServiceSystem } from './systems.js'

/** Arrivals by the clock, none dropped; times count from the moment a request was due. */
export async function measureOverhead(
  service: ServiceSystem,
  options: { perSecond: number; seconds: number }
): Promise<LoadResult> {
  const total = Math.round(options.perSecond * options.seconds)
  const source = await service.prepare(total)
  const result = await runOpenLoop(service.url, { ...options, connections: 256 }, source)
  if (result.statuses['201'] !== total) {
    throw new Error(`Not all ${total} requests were answered 201: ${JSON.stringify(result.statuses)}`)
  }
  return result
}

/** The same with a real acquirer's times: median 1.5 s, 1 % beyond 8 s. What is left above them is ours. */
export async function measureWithSlowNetwork(
  service: ServiceSystem,
  options: { perSecond: number; seconds: number }
): Promise<LoadResult> {
  await setLatency(service, { median: 1_500, p99: 8_000 })
  try {
    const total = Math.round(options.perSecond * options.seconds)
    return await runOpenLoop(service.url, { ...options, connections: 2_000 }, await service.prepare(total))
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
