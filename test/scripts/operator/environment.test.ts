/** The operator's command line works in the environment of the data, also without SERVICE_ENV. */
import { expect } from 'chai'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

describe('an operator', () => {
  const test = useRedis()
  const run = (env: NodeJS.ProcessEnv, ...args: string[]) => operate({ REDIS_URL: test.url, ...env }, args)
  const born = (environment: 'test' | 'live'): Promise<unknown> =>
    claimInstallation(test.redis, { environment, installationId: 'eu', partitions: 4 })
  beforeEach(() => test.redis.flushdb())

  it('works in the environment of the data without SERVICE_ENV: live keys, and no test clock', async () => {
    await born('live')
    const created = await run({}, 'merchant', 'create', 'Loja', '--json')
    const { merchant_id: merchant } = created.json() as { merchant_id: string }
    const key = await run({}, 'key', 'create', '--merchant', merchant, '--publishable')
    expect(key.text).to.contain('svc_live.')
    expect(await run({}, 'clock', 'advance', '7d')).to.include({ code: 1 })
    expect(await test.redis.exists('clock_offset')).to.equal(0)
  })

  it('refuses another environment, installation or number of partitions before it writes anything', async () => {
    await born('live')
    for (const [variable, value, sentence] of [
      ['SERVICE_ENV', 'test', 'REDIS_URL holds live data (installation eu), SERVICE_ENV says test.'],
      ['INSTALLATION_ID', 'us', 'INSTALLATION_ID says us.'],
      ['PARTITIONS', '8', 'created with 4 partitions, PARTITIONS says 8.']
    ] as const) {
      const { code, text } = await run({ [variable]: value }, 'merchant', 'create', 'Loja')
      expect(code).to.equal(1)
      expect(text).to.contain(sentence)
    }
    expect(await test.redis.keys('*')).to.deep.equal(['installation'])
  })

  it('requires SERVICE_ENV where there is no data yet', async () => {
    const { code, text } = await run({}, 'merchant', 'create', 'Loja')
    expect(code).to.equal(1)
    expect(text).to.contain('SERVICE_ENV is not set: must be one of test, live')
    expect(await test.redis.dbsize()).to.equal(0)
    expect((await run({ SERVICE_ENV: 'test' }, 'merchant', 'create', 'Loja')).code).to.equal(0)
  })
})
