import { join } from 'node:path'
import { expect } from 'chai'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { readKeyRing } from '../../../vault/key-ring.js'
import { until } from '../../support/conditions.js'
import { Merchant, orderOf, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { type ServiceUnderTest, useService } from '../../support/service.js'
import { setFaults } from '../../support/simulator.js'
import { openWith } from '../../vault/thief.js'
import { contentOf, filesIn, memoryOf, metricsOf, surfaceOf, writeSnapshot } from './left-behind.js'
import { findNeedles, longSecret, type Needle, shortSecret } from './needles.js'
import { APPROVED, CVV, DECLINED, QUICK, UNANSWERED } from './shopping.js'

const MASTERCARD = '5315281703921200'
const CARDS = [APPROVED, DECLINED, UNANSWERED, MASTERCARD]
/** Of a company, with letters. Redis forgets it when the payment is made, its append-only file when that is rewritten. */
const DOCUMENT = '12ABC34501DE35'
const documentNeedle = longSecret('document', DOCUMENT)
const cardNeedles = [...CARDS.map(number => longSecret(`card …${number.slice(-4)}`, number)), shortSecret('CVV', CVV)]

describe('card data after a run with faults and crashes', () => {
  const service = useService(QUICK)
  let needles: readonly Needle[] = []
  let keyFile = ''
  let webhooks: Receiver

  before(async () => {
    webhooks = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    await registerHook(service(), webhooks.url)
    keyFile = join(service().dataDir, 'vault', 'vault-private-keys.json')
    await misuse(service())
    await payAmidFaults(service())
    await until('webhooks of many payments', () => webhooks.received.length > 20)
    await writeSnapshot(service().redisUrl)
    const secretKeys = Object.values(readKeyRing(keyFile, 'private').keys)
    needles = [
      ...cardNeedles,
      longSecret('API key', service().apiKey.split('.')[2] ?? expect.fail('no secret part')),
      ...secretKeys.map(key => longSecret('vault key', key.private ?? expect.fail('no private key')))
    ]
  })

  after(() => webhooks.stop())

  it('would be found if it were there', () => {
    const payload = `{"cvv":"${CVV}","n":"${APPROVED}"}`
    for (const form of [payload, Buffer.from(payload).toString('hex'), `x${APPROVED} `, 'n=4024 0071 5376 0060']) {
      expect(findNeedles(form, cardNeedles), form).to.include('card …0060')
    }
    for (const before of ['', 'a', 'ab', 'abc']) {
      const encoded = Buffer.from(`${before}${APPROVED}}`).toString('base64')
      expect(findNeedles(encoded, cardNeedles), encoded).to.include('card …0060')
    }
    for (const form of [payload, `cvv=${CVV}&`, `$4\r\n${CVV}\r\n`, '"MDkzNw=="']) {
      expect(findNeedles(form, cardNeedles), form).to.include('CVV')
    }
    expect(findNeedles('1937-0937-a0937b 10937 0.0937 {p07}:sales:0937', cardNeedles)).to.deep.equal([])
    expect(findNeedles('{p07}:cards:0937 sales:0937', cardNeedles)).to.include('CVV')
  })

  it('is in no file of the data directory: log of the durable Redis, snapshot, journal of the simulator', () => {
    const files = filesIn(service().dataDir)
    const names = [...files.keys()].join('\n')
    expect(names)
      .to.match(/appendonly/)
      .and.match(/dump\.rdb/)
    // By their purpose these hold the merchant's key and the vault's keys.
    files.delete(join(service().dataDir, 'demo.json'))
    files.delete(keyFile)
    for (const [path, content] of files) expect(findNeedles(content, needles), path).to.deep.equal([])
  })

  it('is in no key and no value of either Redis', async () => {
    for (const url of [service().redisUrl, service().secretsRedisUrl]) {
      const content = await contentOf(url)
      expect(content.length, url).to.be.greaterThan(100)
      expect(findNeedles(content, [...needles, documentNeedle]), url).to.deep.equal([])
    }
  })

  it('is in no log line at level debug, and in no metric', async () => {
    expect(service().logs()).to.contain('request answered')
    const told = service().logs() + (await metricsOf(service().dataDir))
    expect(findNeedles(told, [...needles, documentNeedle])).to.deep.equal([])
  })

  it('is in no webhook', () => {
    expect(findNeedles(JSON.stringify(webhooks.received), [...needles, documentNeedle])).to.deep.equal([])
  })

  it('is in no command line and no environment', () => {
    const pids = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'network'].flatMap(name =>
      service().pids(name)
    )
    expect(pids.length).to.be.at.least(7)
    for (const pid of pids) expect(findNeedles(surfaceOf(pid), needles), String(pid)).to.deep.equal([])
  })

  it('is in the memory of payments, tokens and the network only', () => {
    const merchant = longSecret('merchant', service().merchantId)
    // Of a stored card, the merchant sends the CVV itself; a card number never passes through here.
    const numbers = cardNeedles.filter(({ name }) => name !== 'CVV')
    const found = new Map<string, Set<string>>()
    for (const name of ['api', 'notifications', 'timers', 'webhooks', 'redis', 'secrets-redis']) {
      const names = new Set<string>()
      for (const pid of service().pids(name)) {
        for (const piece of memoryOf(pid)) for (const hit of findNeedles(piece, [...numbers, merchant])) names.add(hit)
      }
      found.set(name, names)
    }
    // The merchant's id is there, so that the search works at all.
    expect([...(found.get('api') ?? [])]).to.deep.equal(['merchant'])
    expect(new Set([...found.values()].flatMap(names => [...names]))).to.deep.equal(new Set(['merchant']))
  })

  it('of stored cards can be opened with the private key from a stolen data directory, a CVV cannot', () => {
    const secrets = openedBoxes(service().dataDir, keyFile)
    expect(secrets.filter(([kind]) => kind === 'card').map(parts => parts[3])).to.include(APPROVED)
    expect(secrets.filter(([kind]) => kind !== 'card')).to.deep.equal([])
  })
})

/** Card data in every place where it does not belong: each request must be refused without a trace. */
async function misuse(service: ServiceUnderTest): Promise<void> {
  const send = (url: string, key: string, body: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'misuse' },
      body
    })
  const tokens = `${service.tokensUrl}/v1/tokens`
  const refused = await Promise.all([
    send(tokens, service.publishableKey, `{"card_number":"${APPROVED}","cvv":"${CVV}"`),
    send(tokens, service.publishableKey, JSON.stringify({ card_number: APPROVED, cvv: CVV, holder_name: APPROVED })),
    send(tokens, service.publishableKey, JSON.stringify({ [APPROVED]: CVV })),
    send(`${tokens}/${APPROVED}?cvv=${CVV}`, service.publishableKey, '{}'),
    send(tokens, `svc_test.${APPROVED}`, '{}'),
    send(
      `${service.baseUrl}/v1/payments`,
      service.apiKey,
      JSON.stringify({ payment_source: { cvv: CVV, card: APPROVED } })
    ),
    send(`${service.baseUrl}/v1/payments`, service.apiKey, `{"payment_source":{"cvv":"${CVV}",}`),
    send(`${service.baseUrl}/v1/cards`, service.apiKey, JSON.stringify({ token_id: APPROVED, cvv: CVV })),
    fetch(`${service.baseUrl}/v1/payments/${APPROVED}`, { headers: { Authorization: `Bearer ${service.apiKey}` } })
  ])
  for (const response of refused) {
    expect(response.status).to.be.within(400, 422)
    expect(findNeedles(await response.text(), cardNeedles)).to.deep.equal([])
  }
}

/** Payments of every kind while the network misbehaves and processes die. */
async function payAmidFaults(service: ServiceUnderTest): Promise<void> {
  const merchant = new Merchant(() => service)
  const stored = await merchant.storeCard(APPROVED, CVV)
  const payTyped = async (card: string): Promise<unknown> =>
    await merchant.create({ token: await merchant.token(card, CVV) })
  const payWithCvvToken = async (): Promise<unknown> =>
    await merchant.create({ source: { ...stored, cvv_token_id: await merchant.cvvToken(CVV) } })
  const payFor = async (document: string): ReturnType<typeof merchant.post> => {
    const source = { source_type: 'token', token_id: await merchant.token() }
    return await merchant.post('/v1/payments', {
      ...orderOf({}),
      payment_source: source,
      customer: { ...demoCustomer, document }
    })
  }
  await setFaults(service, { drop_before: 0.1, drop_after: 0.15, error_after: 0.15, late: 0.1, late_ms: 300 })
  const attempt = (work: Promise<unknown>): Promise<unknown> => work.catch(() => 'the process died')
  const round = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 6 }, () => [
        ...CARDS.map(number => attempt(payTyped(number))),
        attempt(merchant.create({ source: { ...stored, cvv: CVV } })),
        attempt(merchant.create({ source: stored })),
        attempt(payWithCvvToken()),
        attempt(merchant.storeCard(MASTERCARD, CVV))
      ]).flat()
    )
  for (const victim of ['payments', 'tokens', 'api', 'redis']) {
    const payments = round()
    service.kill(victim)
    await payments
    await service.untilReady()
  }
  await setFaults(service, {})
  expect((await payFor(DOCUMENT)).payment.status).to.equal('captured')
  const refused = await payFor(`${DOCUMENT.slice(0, -1)}6`)
  expect(refused.status).to.equal(400)
  expect(JSON.stringify(refused)).not.to.contain(DOCUMENT.slice(0, -2))
  expect((await merchant.create({ source: { ...stored, cvv: CVV } })).payment.status).to.equal('captured')
  await merchant.get('/v1/payments')
}

/** The contents of every box in any file of the folder, as a thief with the private key reads them. */
function openedBoxes(folder: string, privateFile: string): string[][] {
  const { keys } = readKeyRing(privateFile, 'private')
  const boxes = new Map<string, readonly [keyId: string, sealed: Buffer]>()
  for (const content of filesIn(folder).values()) {
    for (const [box, keyId = '', sealed = ''] of content
      .toString('latin1')
      .matchAll(/v2\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{64,})/g)) {
      boxes.set(box, [keyId, Buffer.from(sealed, 'base64url')])
    }
  }
  return [...boxes.values()].map(([keyId, sealed]) => openWith(keys[keyId] ?? expect.fail(`no key ${keyId}`), sealed))
}
