/** How full a Redis is: at its limit it refuses every write (`noeviction`), so alerts look ahead. */
import { type Registry, register } from 'prom-client'
import { publishFigures } from '../../runtime/metrics.js'
import type { Redis } from './connections.js'
import { infoField } from './reply-fields.js'

/** Memory of one server. Without `maxmemory` the limit is the memory of its machine. */
export interface RedisMemory {
  readonly usedBytes: number
  readonly limitBytes: number
}

/** The memory of the fullest of these masters. Rejects when one does not answer. */
export async function readMemory(masters: readonly Redis[]): Promise<RedisMemory> {
  const servers = await Promise.all(masters.map(async master => memoryIn(await master.info('memory'))))
  const [first, ...others] = servers
  if (first === undefined) throw new Error('The Cluster has no master at the moment.')
  const usedPart = ({ usedBytes, limitBytes }: RedisMemory): number => usedBytes / limitBytes
  return others.reduce((fullest, server) => (usedPart(server) > usedPart(fullest) ? server : fullest), first)
}

/** Registers the memory of one of the two Redis, read anew for each scrape. `name`: its label. */
export function publishMemory(
  name: 'durable' | 'memory_only',
  read: () => Promise<RedisMemory>,
  registry: Registry = register
): void {
  publishFigures(registry, read, [
    {
      name: 'card_payments_redis_memory_used_bytes',
      help: 'Memory that a Redis uses. `redis`: durable (from `timers`), memory_only (from `tokens`). Of a Cluster: of its fullest master.',
      label: 'redis',
      pick: ({ usedBytes }) => ({ [name]: usedBytes })
    },
    {
      name: 'card_payments_redis_memory_limit_bytes',
      help: 'Memory at which that Redis refuses writes: its maxmemory, or the memory of its machine where that is 0.',
      label: 'redis',
      pick: ({ limitBytes }) => ({ [name]: limitBytes })
    }
  ])
}

function memoryIn(info: string): RedisMemory {
  const field = (name: string): number => Number(infoField(info, name) ?? 0)
  return { usedBytes: field('used_memory'), limitBytes: field('maxmemory') || field('total_system_memory') }
}
