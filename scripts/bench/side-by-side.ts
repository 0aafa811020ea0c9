/** Throughput of all systems, closed loop, in turn, round by round; and the cost of a payment. */
import { readCpuMs, readRedisCosts } from './costs.js'
import { assertAllCreated, type LoadResult, runClosedLoop } from './load.js'
import { median, medians, type Spread, spread } from './statistics.js'
import type { ServiceSystem, System } from './systems.js'

export interface SystemFigures {
  readonly name: string
  readonly perSecond: Spread
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** CPU time per payment (us) by process, the median of the rounds. */
  readonly cpuUs: Readonly<Record<string, number>>
  /** The service only: commands and growth of the durable Redis per payment. */
  readonly redisCommands: number | null
  readonly redisBytes: number | null
}

interface Round {
  readonly load: LoadResult
  readonly cpuUs: ReadonlyMap<string, number>
  readonly redisCommands: number
  readonly redisBytes: number
}

const WARM_UP = 3_000

/** Measures every system `rounds` times. Rejects when an answer was not 201. */
export async function measureSideBySide(
  systems: readonly System[],
  service: ServiceSystem,
  options: { rounds: number; payments: number; connections: number },
  progress: (line: string) => void
): Promise<SystemFigures[]> {
  const { payments: total, connections } = options
  for (const system of systems) {
    await runClosedLoop(system.url, { total: WARM_UP, connections }, await system.prepare(WARM_UP))
  }
  const rounds = new Map<System, Round[]>(systems.map(system => [system, []]))
  for (let round = 1; round <= options.rounds; round++) {
    for (const system of systems) {
      const measured = await measureRound(system, service, total, connections)
      rounds.get(system)?.push(measured)
      progress(`round ${round}: ${system.name} ${measured.load.perSecond.toFixed(0)}/s`)
    }
  }
  return [...rounds].map(([system, all]) => figuresOf(system, service, all))
}

async function measureRound(
  system: System,
  service: ServiceSystem,
  total: number,
  connections: number
): Promise<Round> {
  const source = await system.prepare(total)
  const [cpuBefore, redisBefore] = [await readCpuMs(), await readRedisCosts(service.redisUrl)]
  const load = await runClosedLoop(system.url, { total, connections }, source)
  const [cpuAfter, redisAfter] = [await readCpuMs(), await readRedisCosts(service.redisUrl)]
  assertAllCreated(system.name, total, load)
  const perPaymentUs = (name: string, ms: number): number => ((ms - (cpuBefore.get(name) ?? 0)) * 1_000) / total
  return {
    load,
    cpuUs: new Map([...cpuAfter].map(([name, ms]) => [name, perPaymentUs(name, ms)])),
    redisCommands: (redisAfter.commands - redisBefore.commands) / total,
    redisBytes: (redisAfter.usedBytes - redisBefore.usedBytes) / total
  }
}

function figuresOf(system: System, service: ServiceSystem, rounds: readonly Round[]): SystemFigures {
  const names = new Set(rounds.flatMap(round => [...round.cpuUs.keys()]))
  const cpu = [...names].map(name => [name, median(rounds.map(round => round.cpuUs.get(name) ?? 0))] as const)
  const isService = system === service
  return {
    name: system.name,
    perSecond: spread(rounds.map(round => round.load.perSecond)),
    ...medians(
      ['p50Ms', 'p99Ms', 'p999Ms'],
      rounds.map(round => round.load)
    ),
    cpuUs: Object.fromEntries(cpu.filter(([, us]) => us >= 1).sort((a, b) => b[1] - a[1])),
    redisCommands: isService ? median(rounds.map(round => round.redisCommands)) : null,
    redisBytes: isService ? median(rounds.map(round => round.redisBytes)) : null
  }
}

/** Requests/s of one of the systems, the median of its rounds; 0 when it was not measured. */
export function throughputOf(figures: readonly SystemFigures[], { name }: Pick<System, 'name'>): number {
  return figures.find(system => system.name === name)?.perSecond.median ?? 0
}
