import { expect } from 'chai'
import { Registry } from 'prom-client'
import type { Redis } from '../../../redis/connection/connections.js'
import { publishMemory, readMemory } from '../../../redis/connection/redis-memory.js'

const server = (used: number, max: number): Redis =>
  ({
    info: async () => `# Memory\r\nused_memory:${used}\r\ntotal_system_memory:8000\r\nmaxmemory:${max}\r\n`
  }) as unknown as Redis

describe('the memory of a Redis', () => {
  it('is limited by maxmemory, or by the machine', async () => {
    expect(await readMemory([server(700, 1_000)])).to.deep.equal({ usedBytes: 700, limitBytes: 1_000 })
    expect(await readMemory([server(700, 0)])).to.deep.equal({ usedBytes: 700, limitBytes: 8_000 })
  })

  it('is that of the fullest master of a Cluster', async () => {
    const masters = [server(700, 7_000), server(600, 1_000), server(500, 2_000)]
    expect(await readMemory(masters)).to.deep.equal({ usedBytes: 600, limitBytes: 1_000 })
  })

  it('is reported under the name of the Redis, and not at all while it is away', async () => {
    const registry = new Registry()
    let isAway = false
    const read = async () => {
      if (isAway) throw new Error('away')
      return await readMemory([server(700, 1_000)])
    }
    publishMemory('durable', read, registry)
    expect(await registry.metrics())
      .to.contain('card_payments_redis_memory_used_bytes{redis="durable"} 700')
      .and.contain('card_payments_redis_memory_limit_bytes{redis="durable"} 1000')
    isAway = true
    expect(await registry.metrics()).not.to.match(/^card_payments_redis/m)
  })
})
