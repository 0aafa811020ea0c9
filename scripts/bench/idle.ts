/** What the service costs before and without any payment: CPU of its start, and CPU and commands of Redis while it is idle. */
import { setTimeout as pause } from 'node:timers/promises'
import { readCpuMs, readRedisCosts } from './costs.js'
import type { ServiceSystem } from './systems.js'

export interface IdleFigures {
  /** CPU time (ms) until all processes were ready, by process. */
  readonly startCpuMs: Readonly<Record<string, number>>
  /** Share of one core (%), by process. */
  readonly idlePercent: Readonly<Record<string, number>>
  /** Commands of both Redis in a second. */
  readonly commandsPerSecond: number
}

/** Until what a start leaves behind is over: V8 cleans up for half a minute. */
const SETTLE_MS = 40_000
const MEASURED_MS = 20_000

/** Of a service that just started, and that nothing else uses. */
export async function measureIdle(service: ServiceSystem): Promise<IdleFigures> {
  const startCpu = await readCpuMs()
  await pause(SETTLE_MS)
  const [cpuBefore, before, beganMs] = [await readCpuMs(), await commandsOf(service), performance.now()]
  await pause(MEASURED_MS)
  const [cpuAfter, after, endedMs] = [await readCpuMs(), await commandsOf(service), performance.now()]
  const spentMs = endedMs - beganMs
  const idle = [...cpuAfter].map(([name, ms]) => [name, (100 * (ms - (cpuBefore.get(name) ?? 0))) / spentMs] as const)
  return {
    startCpuMs: Object.fromEntries(startCpu),
    idlePercent: Object.fromEntries(idle),
    commandsPerSecond: ((after - before) * 1_000) / spentMs
  }
}

async function commandsOf({ redisUrl, secretsRedisUrl }: ServiceSystem): Promise<number> {
  const costs = await Promise.all([redisUrl, secretsRedisUrl].map(readRedisCosts))
  return costs.reduce((sum, { commands }) => sum + commands, 0)
}
