import { expect } from 'chai'
import { ConfigError, readConfig } from '../../runtime/config.js'

describe('PREAUTH_TTL_DAYS', () => {
  const read = (text: string) => readConfig({ SERVICE_ENV: 'test', PREAUTH_TTL_DAYS: text }).preauthTtlDays

  it('has the days of all brands, and of some by name', () => {
    expect(read('7, visa=5, elo=15')).to.deep.equal({ days: 7, byName: { visa: 5, elo: 15 } })
    expect(read('30')).to.deep.equal({ days: 30, byName: {} })
  })

  for (const text of ['0', '31', 'visa=5', '7,visa=0', '7,visa=31', '7,visa', '7,5', '7,visa=5.5', '100']) {
    it(`refuses ${text}`, () => {
      expect(() => read(text)).to.throw(ConfigError, /must look like 7,visa=5,elo=15, with 1 to 30 days/)
    })
  }
})

describe('WAIT_REPLICAS', () => {
  const problemsOf = (env: NodeJS.ProcessEnv): string => {
    try {
      readConfig(env, 'timers')
      readConfig(env, 'payments')
      return ''
    } catch (error) {
      return error instanceof ConfigError ? error.problems.join('\n') : String(error)
    }
  }

  for (const url of ['redis-sentinel://127.0.0.1:26379/payments', 'redis-cluster://127.0.0.1:7000']) {
    it(`is 1 where ${url.split(':')[0]} may promote a replica, and needs a figure in live`, () => {
      expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: url }).waitReplicas).to.equal(1)
      expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: url, WAIT_REPLICAS: '0' }).waitReplicas).to.equal(0)
      expect(problemsOf({ SERVICE_ENV: 'live', REDIS_URL: url })).to.match(/^WAIT_REPLICAS is not set/m)
      expect(problemsOf({ SERVICE_ENV: 'live', REDIS_URL: url, WAIT_REPLICAS: '0' })).to.not.match(/WAIT_REPLICAS/)
    })
  }

  it('is 0 for one server', () => {
    expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: 'redis://127.0.0.1:6379' }).waitReplicas).to.equal(0)
    expect(problemsOf({ SERVICE_ENV: 'live' })).to.not.match(/WAIT_REPLICAS/)
  })
})
