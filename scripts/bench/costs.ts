/** The cost of a load: CPU of the processes, commands and memory of Redis. Read before and after a load. */
import { readdir, readFile } from 'node:fs/promises'
import { infoFigure, withRedis } from '../start/with-redis.js'

export interface RedisCosts {
  readonly commands: number
  readonly usedBytes: number
}

/** Commands processed and memory used by data, of one Redis. */
export async function readRedisCosts(url: string): Promise<RedisCosts> {
  return await withRedis(url, async redis => ({
    commands: await infoFigure(redis, 'total_commands_processed'),
    usedBytes: await infoFigure(redis, 'used_memory')
  }))
}

/** CPU time so far (ms) of this process's children and their children, by the file that they run. */
export async function readCpuMs(): Promise<Map<string, number>> {
  const processes = await Promise.all((await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(readProcess))
  const known = new Map(processes.flatMap(found => (found === null ? [] : [[found.pid, found]])))
  const isOurs = (pid: number): boolean => {
    for (let at = known.get(pid); at !== undefined; at = known.get(at.parent))
      if (at.parent === process.pid) return true
    return false
  }
  const sums = new Map<string, number>()
  for (const { pid, name, cpuMs } of known.values()) {
    if (isOurs(pid)) sums.set(name, (sums.get(name) ?? 0) + cpuMs)
  }
  return sums
}

/** Clock ticks of /proc are 10 ms on every Linux that Node runs on. */
const TICK_MS = 10

async function readProcess(name: string): Promise<{ pid: number; parent: number; name: string; cpuMs: number } | null> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8'),
      readFile(`/proc/${name}/cmdline`, 'utf8')
    ])
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const words = command.split('\0')
    const file = words.find(word => word.endsWith('.js')) ?? words[0] ?? ''
    return {
      pid: Number(name),
      parent: Number(fields[1]),
      name: file.split('/').at(-1)?.replace(/\.js$/, '') ?? '',
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS
    }
  } catch {
    // The process has ended.
    return null
  }
}
