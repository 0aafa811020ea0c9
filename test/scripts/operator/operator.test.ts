import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

describe('operator command line: merchants and keys', () => {
  const servers = useRedis()
  let dataDir: string
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'operator-'))
  })
  after(() => rm(dataDir, { recursive: true }))

  const run = (line: string, env: NodeJS.ProcessEnv = { SERVICE_ENV: 'test', REDIS_URL: servers.url }) =>
    operate(env, line === '' ? [] : line.split(' '))
  const newMerchant = async (): Promise<string> => (await run('merchant create Loja --json')).json().merchant_id

  it('creates, lists, disables and enables merchants', async () => {
    const created = await run('merchant create --name Padaria --json')
    expect(created.code).to.equal(0)
    const { merchant_id: id } = created.json()
    expect(created.json()).to.include({ name: 'Padaria', enabled: true })

    const disabled = await run(`merchant disable ${id} --json`)
    expect(disabled.json()).to.include({ merchant_id: id, enabled: false })
    expect((await run('merchant list')).out).to.match(new RegExp(`${id} +false .*Padaria`))
    const enabled = await run(`merchant enable --merchant ${id}`)
    expect(enabled.out).to.equal(`Merchant ${id} is enabled.\n`)
    expect((await run('merchant list --json')).json()).to.deep.include({ ...created.json() })
  })

  it('shows a merchant with its keys and where its webhooks go', async () => {
    const merchantId = await newMerchant()
    const key = (await run(`key create --merchant ${merchantId} --publishable --json`)).json()
    const endpoints = createWebhookEndpointStore(unreplicated(servers.redis), 16)
    await endpoints.register({ merchantId, url: 'https://shop.example/hook', isRotation: false, keyId: 'k', nowMs: 1 })
    await endpoints.switchOff(merchantId, Date.parse('2030-01-02'))
    await newMerchant()

    const shown = await run(`merchant show ${merchantId} --json`)
    expect(shown.code).to.equal(0)
    expect(shown.json()).to.deep.include({
      merchant_id: merchantId,
      name: 'Loja',
      enabled: true,
      webhook_url: 'https://shop.example/hook',
      webhooks_off_since: '2030-01-02T00:00:00.000Z'
    })
    expect(shown.json().keys.map((row: { key_id: string }) => row.key_id)).to.deep.equal([key.key_id])
    expect((await run(`merchant show --merchant ${merchantId}`)).out)
      .to.match(/^webhook_url +https:\/\/shop\.example\/hook$/m)
      .and.match(new RegExp(`^${key.key_id} .*active +true`, 'm'))
  })

  it('warns when fewer replicas than WAIT_REPLICAS have what was written', async () => {
    const env = { SERVICE_ENV: 'test', REDIS_URL: servers.url, WAIT_REPLICAS: '1' }
    const created = await run('merchant create --name Padaria --json', env)
    expect(created.code).to.equal(0)
    expect(created.err).to.contain('0 replicas answer, WAIT_REPLICAS asks for 1')
    expect((await run('merchant list')).out).to.contain(created.json().merchant_id)
    expect((await run('merchant list')).err).to.equal('')
  })

  it('creates keys, shows them once, lists and revokes them', async () => {
    const merchant = await newMerchant()
    const created = await run(`key create --merchant ${merchant} --permissions payments:read,payments:write --json`)
    const { key, key_id: keyId } = created.json()
    expect(key).to.match(new RegExp(`^svc_test\\.${keyId}\\.`))
    expect(created.json()).to.deep.include({ permissions: ['payments:read', 'payments:write'], publishable: false })

    const listed = await run(`key list --merchant ${merchant}`)
    expect(listed.out)
      .to.match(new RegExp(`${keyId} +${merchant} +active`))
      .and.not.to.contain(key)
    expect((await run(`key revoke ${keyId} --yes --json`)).json()).to.include({ key_id: keyId, revoked: true })
    expect((await run(`key list --merchant ${merchant} --json`)).json()[0]).to.include({ revoked: true })
  })

  for (const [how, out] of [
    ['no room', () => Promise.reject(new Error('no room'))],
    ['nothing reads it', () => Promise.resolve(false)]
  ] as const) {
    it(`names the key whose text is lost with the output: ${how}`, async () => {
      const merchant = await newMerchant()
      const env = { SERVICE_ENV: 'test', REDIS_URL: servers.url }
      const args = ['key', 'create', '--merchant', merchant, '--permissions', 'payments:read']
      const { code, err } = await operate(env, args, { out })
      const [key] = (await run(`key list --merchant ${merchant} --json`)).json()
      expect(code).to.equal(1)
      expect(err).to.contain(`its output is lost: ${how}.`).and.to.contain(`key revoke ${key.key_id}`)
    })
  }

  for (const permissions of ['--permissions tokens:write ', '']) {
    it(`creates publishable keys: ${permissions}--publishable`, async () => {
      const created = await run(`key create --merchant ${await newMerchant()} ${permissions}--publishable --json`)
      expect(created.json().key).to.match(/^svc_test\.[0-9a-z]+$/)
      expect(created.json()).to.deep.include({ permissions: ['tokens:write'], publishable: true })
    })
  }

  for (const [line, exitCode, message] of [
    ['merchant disable m_none', 1, /no merchant m_none/],
    ['merchant show m_none', 1, /no merchant m_none.*merchant list/],
    ['doctor --ops nowhere', 2, /"nowhere" is wrong.*Give an address such as http:/],
    ['merchant show', 2, /missing argument <merchant>/],
    ['key revoke k_none --yes', 1, /no key k_none/],
    ['key create --merchant m_none --permissions payments:read', 1, /no merchant m_none/],
    ['key create --permissions payments:read', 2, /--merchant/],
    ['key create --merchant m_1', 2, /secret key needs --permissions: one or more of payments:read/],
    ['key create --merchant m_1 --permissions everything', 2, /no permission "everything".*payments:read/],
    ['key create --merchant m_1 --publishable --expires soon', 2, /Give a time such as/],
    ['merchant create', 2, /missing argument <name>/],
    ['merchant rename', 2, /unknown command/],
    ['webhook list --merchant m_none', 1, /no merchant m_none/],
    ['webhook discard m_none --yes', 1, /no merchant m_none.*merchant list/],
    ['webhook disable m_none --yes', 1, /no merchant m_none/],
    ['webhook enable m_none', 1, /no merchant m_none/],
    ['webhook replay --merchant m_none --undelivered', 1, /no merchant m_none/],
    ['payments', 2, /unknown command/],
    ['merchant list --verbose', 2, /unknown option/],
    ['', 2, /Usage/]
  ] as const) {
    it(`says what is wrong with "${line}" and exits with ${exitCode}`, async () => {
      const { code: got, err, out } = await run(line)
      expect(got).to.equal(exitCode)
      expect(err).to.match(message)
      expect(out).to.equal('')
    })
  }

  it('finds the Redis of a running `npm start` in its data directory', async () => {
    const merchant = await newMerchant()
    await writeFile(join(dataDir, 'redis.json'), JSON.stringify({ redis_url: servers.url }))
    expect((await run('merchant list', { DATA_DIR: dataDir })).out).to.contain(merchant)
  })

  it('says what to do about a Redis that refuses writes', async () => {
    await servers.redis.config('SET', 'maxmemory', '1')
    try {
      const { code, err } = await run('merchant create --name Padaria')
      expect(code).to.equal(1)
      expect(err).to.match(/^error: OOM .*\nThe durable Redis cannot do that now: .*OPERATIONS\.md/)
    } finally {
      await servers.redis.config('SET', 'maxmemory', '0')
    }
  })

  it('names the file that cannot be read', async () => {
    await writeFile(join(dataDir, 'redis.json'), '{')
    const { code, err } = await run('merchant list', { DATA_DIR: dataDir })
    expect(code).to.equal(1)
    expect(err).to.contain(join(dataDir, 'redis.json'))
  })
})

/** The operator's command line works in the environment of the data, also without SERVICE_ENV. */
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
