import { expect } from 'chai'
import { useRedis } from '../../support/redis.js'

async function setting(redis: ReturnType<typeof useRedis>['redis'], name: string): Promise<string | undefined> {
  const [, value] = (await redis.config('GET', name)) as unknown as string[]
  return value
}

describe('embedded Redis', () => {
  const test = useRedis()

  it('writes every command of the durable server to disk before it answers, and never evicts', async () => {
    expect(await setting(test.redis, 'appendonly')).to.equal('yes')
    expect(await setting(test.redis, 'appendfsync')).to.equal('always')
    expect(await setting(test.redis, 'maxmemory-policy')).to.equal('noeviction')
    expect(await setting(test.redis, 'bind')).to.equal('127.0.0.1')
  })

  it('keeps the memory-only server off every disk (invariant 7)', async () => {
    expect(await setting(test.secrets, 'save')).to.equal('')
    expect(await setting(test.secrets, 'appendonly')).to.equal('no')
    expect(await setting(test.secrets, 'crash-log-enabled')).to.equal('no')
  })
})
