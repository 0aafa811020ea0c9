import { expect } from 'chai'
import { encryptionFinding } from '../../../scripts/operator/doctor/certificates.js'
import { checkLimit } from '../../../scripts/operator/doctor/durable-checks.js'
import { checkSupport, checkVersions } from '../../../scripts/operator/doctor/process-checks.js'
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

describe('what operator doctor warns of in live alone', () => {
  const live = { environment: 'live' } as const
  const test = { environment: 'test' } as const

  it('is a Redis on another machine without TLS, and the password is not shown', () => {
    for (const url of ['redis://u:hidden@10.0.0.1:6379', 'redis-sentinel://u:hidden@localhost:1,other:2/name']) {
      const [finding] = encryptionFinding(url, 'REDIS_URL', live)
      expect(finding).to.include({ check: 'TLS of REDIS_URL', state: 'warning' })
      expect(finding?.found)
        .to.match(/is not encrypted/)
        .and.not.to.contain('hidden')
      expect(finding?.mend).to.contain('rediss://')
      expect(encryptionFinding(url, 'REDIS_URL', test)).to.deep.equal([])
    }
    for (const url of ['redis://localhost:1', 'redis://[::1]:1', 'rediss://other:1', 'rediss-cluster://a:1,b:2'])
      expect(encryptionFinding(url, 'REDIS_URL', live)[0]?.state, url).to.equal('ok')
  })

  it('is a Node without security fixes', () => {
    const on = (node: string) => [
      {
        ...{ name: 'api at a', process: 'api', problems: {}, warnings: {}, facts: {} },
        metrics: `card_payments_build_info{process="api",version="1.0.0",node="${node}"} 1\n`
      }
    ]
    const [finding] = checkSupport(on('v20.20.2'), live)
    expect(finding).to.include({ check: 'support of Node', state: 'warning' })
    expect(finding?.found).to.equal('api at a runs on v20.20.2, without security fixes since 2026-04-30.')
    expect(checkSupport(on('v24.1.0'), live)[0]?.state).to.equal('ok')
    expect(checkSupport(on('v20.20.2'), test)).to.deep.equal([])
  })
})
