/**
 * The own times once more, with the Redis files in memory: what is left is the software's own time. On a disk, what a
 * shared machine does to single fsyncs (hundreds of ms) is in every time beyond the median, of any system.
 */
import { existsSync } from 'node:fs'
import { runClosedLoop } from './load.js'
import { measureOpenLoop, type OpenLoopFigures } from './overhead.js'
import { onStage } from './stage.js'
import { median } from './statistics.js'
import type { System } from './systems.js'

/** A folder in memory, as Linux has it. */
const MEMORY_DIR = '/dev/shm'
/** The first one warms up. */
const ROUNDS = 4

/** Null on a machine without such a folder. */
export async function measureInMemory(
  options: { payments: number; connections: number },
  tell: (line: string) => void
): Promise<OpenLoopFigures | null> {
  if (!existsSync(MEMORY_DIR)) {
    tell(`in memory: not measured, there is no ${MEMORY_DIR} here`)
    return null
  }
  return await onStage(MEMORY_DIR, tell, async ({ service, bare }) => {
    const throughput = { service: await throughputOf(service, options), bare: await throughputOf(bare, options) }
    tell(`in memory: service ${throughput.service.toFixed(0)}/s, bare ${throughput.bare.toFixed(0)}/s`)
    return await measureOpenLoop({ service, bare }, throughput)
  })
}

async function throughputOf(
  system: System,
  { payments: total, connections }: { payments: number; connections: number }
): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const source = await system.prepare(total)
    rates.push((await runClosedLoop(system.url, { total, connections }, source)).perSecond)
  }
  return median(rates.slice(1))
}
