import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

describe('operator key', () => {
  const servers = useRedis()
  const run = (line: string) => operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, line.split(' '))

  it('shows the environment, label and expiry of a key, and when it has expired', async () => {
    const { merchant_id: merchant } = (await run('merchant create Loja --json')).json() as { merchant_id: string }
    const create = (expires: string) =>
      run(`key create --merchant ${merchant} --publishable --label checkout --expires ${expires} --json`)
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    const made = await create(expires)
    expect(made.json()).to.include({ label: 'checkout', expires_at: expires })
    const rows = async () =>
      (await run(`key list --merchant ${merchant}`)).out.split('\n').map(line => line.split(/ {2,}/))
    expect((await rows())[1]).to.include.members(['active', 'test', 'checkout', expires])
    // A key that would have expired before it is made is refused.
    const soon = await until('a key is made', async () => {
      const at = new Date(Date.now() + 1_000).toISOString()
      return (await create(at)).code === 0 && at
    })
    await until('it has expired', async () => (await rows()).some(row => row.includes(soon) && row.includes('expired')))
  })
})
