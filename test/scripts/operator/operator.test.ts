import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
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

  it('exits with 0 after --help', async () => {
    const { code, out } = await run('key create --help')
    expect(code).to.equal(0)
    expect(out).to.contain('--publishable')
  })

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
