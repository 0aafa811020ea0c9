import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

describe('operator key', () => {
  const servers = useRedis()
  const run = (line: string) => operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, line.split(' '))

  it('shows the environment, label and expiry of a key, and when it has expired', async () => {
    const { merchant_id: merchant } = (await run('merchant create Loja --json')).json() as { merchant_id: string }
    const expires = new Date(Date.now() + 3_000).toISOString()
    const made = await run(
      `key create --merchant ${merchant} --publishable --label checkout --expires ${expires} --json`
    )
    expect(made.json()).to.include({ label: 'checkout', expires_at: expires })
    const row = async () => (await run(`key list --merchant ${merchant}`)).out.split('\n')[1]?.split(/ {2,}/) ?? []
    expect(await row()).to.include.members(['active', 'test', 'checkout', expires])
    await until('it has expired', async () => (await row()).includes('expired'))
  })
})
