import { expect } from 'chai'
import { checkLimit } from '../../../scripts/operator/doctor/durable-checks.js'
import { checkVersions } from '../../../scripts/operator/doctor/process-checks.js'
import { useRedis } from '../../support/redis.js'

describe('the memory of a Redis, for operator doctor', () => {
  const test = useRedis()
  afterEach(() => test.redis.config('SET', 'maxmemory', '0'))

  it('has a limit in live, below the memory of its machine', async () => {
    const [finding] = await checkLimit(test.redis, 'REDIS_URL', { environment: 'live' })
    expect(finding).to.include({ check: 'memory of REDIS_URL', state: 'warning' })
    expect(finding?.found).to.match(/^maxmemory of .*:\d+ is 0: the kernel kills/)
    expect(finding?.mend).to.contain('CONFIG SET maxmemory')
    expect((await checkLimit(test.redis, 'REDIS_URL', { environment: 'test' }))[0]?.state).to.equal('ok')
    await test.redis.config('SET', 'maxmemory', '1gb')
    expect((await checkLimit(test.redis, 'REDIS_URL', { environment: 'live' }))[0]?.state).to.equal('ok')
  })
})

describe('the versions that operator doctor compares', () => {
  it('include its own', () => {
    const metrics = `card_payments_build_info{process="api",version="9.9.9",node="${process.version}"} 1\n`
    const seen = [{ name: 'api at a', process: 'api', problems: {}, warnings: {}, facts: {}, metrics }]
    const found = checkVersions(seen, '^20.19').filter(({ check }) => check === 'versions')
    expect(found.map(({ state, found: text }) => `${state}: ${text}`).join()).to.match(
      /^warning: Not all are of one release: \S+ \(this command\), 9\.9\.9 \(api at a\)\.$/
    )
  })
})
