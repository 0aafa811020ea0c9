import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createWebhookEndpoints } from '../../../api/webhook-endpoint/webhook-endpoints.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { ensureKeyFiles, webhookKeyFileIn } from '../../../vault/key-files.js'
import { loadWebhookSecrets } from '../../../vault/webhook-secrets.js'
import { useRedis } from '../../support/redis.js'
import { aKey, type RunningApi, SECRET, startApi } from '../running-api.js'

const PATH = '/v1/webhook-endpoint'
const HOOK = 'https://shop.example/hooks?shop=1'
/** The longest label, and the longest name of a host. */
const LABEL = 'a'.repeat(63)
const HOST = `${LABEL}.${LABEL}.${LABEL}.${LABEL.slice(0, 61)}`

describe('the webhook endpoint', () => {
  const test = useRedis()
  let api: RunningApi
  let dir = ''
  let nowMs = Date.UTC(2026, 0, 2)

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-hooks-'))
    const store = createWebhookEndpointStore(unreplicated(test.redis), 16)
    const secrets = loadWebhookSecrets(ensureKeyFiles(webhookKeyFileIn(dir)).privateFile)
    const clock = { now: () => nowMs }
    api = await startApi({ webhookEndpoints: createWebhookEndpoints(store, secrets, clock) })
  })
  after(async () => {
    await api.stop()
    await rm(dir, { recursive: true, force: true })
  })
  beforeEach(() => test.redis.flushdb())

  const switches = () => createWebhookEndpointStore(unreplicated(test.redis), 16)
  const put = (body: unknown) => api.request('PUT', PATH, { body })

  it('2.4: answers a registration with URL, secret, header name and time', async () => {
    const answer = await put({ url: HOOK })
    expect(answer.status).to.equal(200)
    expect(answer.body).to.have.all.keys('url', 'secret', 'signature_header', 'updated_at')
    expect(answer.body).to.include({
      url: HOOK,
      signature_header: 'X-Service-Signature',
      updated_at: '2026-01-02T00:00:00.000Z'
    })
    expect(answer.body['secret']).to.match(/^whsec_[\w-]{43}$/)
  })

  it('4.8: a read shows the same without the secret, and 404 before there is one', async () => {
    const { status, error } = await api.request('GET', PATH)
    expect([status, error['code']]).to.deep.equal([404, 'not_found'])
    expect(error['message']).to.contain('PUT /v1/webhook-endpoint')
    const { body } = await put({ url: HOOK })
    const { secret: _, ...rest } = body
    expect((await api.request('GET', PATH)).body).to.deep.equal(rest)
  })

  it('a registration switches webhooks on that an operator had switched off, also one of the same URL', async () => {
    await put({ url: HOOK })
    for (const body of [{ url: HOOK }, { url: 'https://shop.example/other' }]) {
      await switches().switchOff('m_one', nowMs)
      expect((await switches().find('m_one'))?.offSinceMs).to.equal(nowMs)
      expect((await put(body)).status).to.equal(200)
      expect((await switches().find('m_one'))?.offSinceMs).to.equal(null)
    }
  })

  it('the same URL again changes nothing', async () => {
    const { body: first } = await put({ url: HOOK })
    nowMs += 60_000
    expect((await put({ url: HOOK })).body).to.deep.equal(first)
    expect((await put({ url: HOOK, rotate_secret: false })).body).to.deep.equal(first)
    const rotated = await put({ url: HOOK, rotate_secret: true })
    expect(rotated.body['updated_at']).to.equal(new Date(nowMs).toISOString())
  })

  it('another URL, or a wish for rotation, gets another secret', async () => {
    const secrets = new Set<unknown>()
    for (const body of [
      { url: HOOK },
      { url: `${HOOK}&v=2` },
      { url: `${HOOK}&v=2`, rotate_secret: true },
      { url: HOOK }
    ]) {
      secrets.add((await put(body)).body['secret'])
    }
    expect(secrets.size).to.equal(4)
  })

  it('takes a URL of 2048 characters, and not one more', async () => {
    const longest = HOOK.padEnd(2_048, 'x')
    expect((await put({ url: longest })).body['url']).to.equal(longest)
    expect((await put({ url: `${longest}x` })).error.fields?.map(field => field.path)).to.deep.equal(['url'])
  })

  it('gives two registrations at once one secret', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => put({ url: HOOK })))
    expect(new Set(answers.map(({ body }) => body['secret'])).size).to.equal(1)
  })

  it('keeps no secret in Redis', async () => {
    const { body } = await put({ url: HOOK })
    const [key = ''] = await test.redis.keys('*')
    expect(await test.redis.get(key)).not.to.contain(String(body['secret']).slice(6))
  })

  it('5: needs webhooks:write, and shows each merchant its own', async () => {
    api.keys.set('k_payer', aKey('k_payer', { permissions: ['payments:read', 'payments:write', 'cards:write'] }))
    api.keys.set('k_other', aKey('k_other', { merchantId: 'm_other' }))
    const as = (keyId: string) => ({ headers: { Authorization: `Bearer svc_test.${keyId}.${SECRET}` } })
    expect((await api.request('PUT', PATH, { ...as('k_payer'), body: { url: HOOK } })).status).to.equal(403)
    expect((await api.request('GET', PATH, as('k_payer'))).error).to.include({ code: 'insufficient_scope' })
    await put({ url: HOOK })
    expect((await api.request('GET', PATH, as('k_other'))).status).to.equal(404)
  })

  const bad: [unknown, string][] = [
    [{}, 'url'],
    [{ url: 1 }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'http://shop.example/' }, 'url'],
    [{ url: 'shop.example' }, 'url'],
    [{ url: 'https://' }, 'url'],
    [{ url: 'ftp://shop.example/' }, 'url'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ url: ` ${HOOK}` }, 'url'],
    [{ url: `${HOOK} ` }, 'url'],
    [{ url: `${HOOK}\n` }, 'url'],
    [{ url: `\t${HOOK}` }, 'url'],
    [{ url: `${HOOK}\u0001` }, 'url'],
    [{ url: 'https://shop.example/a b' }, 'url'],
    [{ url: 'https://shop.example\\@evil.example/' }, 'url'],
    [{ url: 'https:\\\\shop.example/' }, 'url'],
    [{ url: 'https:shop.example' }, 'url'],
    [{ url: 'https://shop.example:0/' }, 'url'],
    [{ url: 'https://user:secret@shop.example/' }, 'url'],
    [{ url: 'https://@shop.example/' }, 'url'],
    [{ url: 'https://:@shop.example/' }, 'url'],
    [{ url: 'https://168.63.129.16/' }, 'url'],
    [{ url: 'https://shop.example/#part' }, 'url'],
    [{ url: 'https://127.0.0.1/' }, 'url'],
    [{ url: 'https://localhost/' }, 'url'],
    [{ url: 'https://0x7f.1/' }, 'url'],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    [{ url: 'https://169.254.169.254/latest/meta-data' }, 'url'],
    [{ url: 'https://127.0.0.1./' }, 'url'],
    [{ url: 'https://1.2.3.4../' }, 'url'],
    [{ url: 'https://a%2e%2eb/' }, 'url'],
    [{ url: 'https://a\u3002\u3002b/' }, 'url'],
    [{ url: `https://${'\u00fc'.repeat(60)}.example/` }, 'url'],
    [{ url: `https://${LABEL}x./` }, 'url'],
    [{ url: `https://${HOST}x./` }, 'url'],
    [{ url: HOOK, rotate_secret: 'yes' }, 'rotate_secret'],
    [{ url: HOOK, secret: 'mine' }, 'secret']
  ]
  for (const [body, path] of bad) {
    it(`refuses ${JSON.stringify(body).slice(0, 70)} and stores nothing`, async () => {
      const answer = await put(body)
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
      expect(await test.redis.dbsize()).to.equal(0)
    })
  }

  for (const url of [
    'https://shop.example./',
    'https://a.b.c/x',
    'https://b\u00fccher.example/',
    'https://xn--bcher-kva.example/',
    `https://${LABEL}.example/`,
    `https://${HOST}:8443/`,
    `https://${HOST}./`,
    'https://8.8.8.8/',
    'https://0x08080808/',
    'https://8.8.8.8./',
    'https://[2606:4700::1111]/',
    'https://[::ffff:8.8.8.8]:8443/'
  ]) {
    it(`takes ${url.slice(0, 70)} as it was given`, async () => {
      expect((await put({ url })).body['url']).to.equal(url)
    })
  }

  const hostRule = 'must name a host with 1 to 63 characters between dots, and at most 253 in all'
  for (const [url, sentence] of [
    ['https://a..b/x', hostRule],
    ['https://.a.b/', hostRule],
    ['https://./', hostRule],
    ['https://shop.example../', hostRule],
    [`https://${LABEL}x.example/`, hostRule],
    [`https://${HOST}x/`, hostRule],
    ['https://shop.example/4024007153760060', 'must not contain card data'],
    ['https://shop.example/?cvv=123', 'must not contain card data'],
    ['https://shop.example/?n=4024%200071%205376%200060', 'must not contain card data'],
    ['http://shop.example/', 'must begin with https:// and the name of a host'],
    ['https://user:secret@shop.example/', 'must not contain a user name or a password'],
    ['https://shop.example/#part', 'must not contain a fragment (#…), which is never sent'],
    ['https://shop.example/a b', 'must not contain white space or a backslash']
  ] as const) {
    it(`says what is wrong with ${url}`, async () => {
      expect((await put({ url })).error.fields).to.deep.equal([{ path: 'url', message: sentence }])
    })
  }
})
