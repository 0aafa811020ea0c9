import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { fixedKeys, typeOfKey } from '../../../redis/key-types.js'
import { idempotencyRecordIdOf, keys, partitionOf, partitionOfKey, paymentKeyOf } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import type { Finding } from '../../../scripts/operator/doctor/finding.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** Not replaced here: without them the data has gone back, and an operator decides (decision 31). */
const VOUCHING = ['seq', 'vouch']

describe('while a key of Redis has another type', () => {
  const log = createLogger('test', 'silent')
  const merchant = new Merchant(() => service)
  let service: ServiceUnderTest
  let receiver: Receiver
  let durable: Redis
  let partition = 0
  /** Written before anything is wrong. */
  let paymentId = ''
  let heldId = ''
  let cardId = ''
  const acceptedIds = new Set<string>()
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'warn', RESULT_WAIT_MS: '2000', RATE_LIMIT_PER_SECOND: '0' } })
    durable = await connect(service.redisUrl, 'commands', log)
    receiver = await startReceiver(undefined, readLoopbackTls(service.dataDir))
    await registerHook(service, receiver.url)
    partition = partitionOf(service.merchantId, 16)
    paymentId = (await merchant.create()).payment.id
    heldId = (await merchant.create({ capture: false })).payment.id
    cardId = (await merchant.storeCard()).card_id
  })
  after(async () => {
    if (durable) await disconnect(durable)
    await receiver?.stop()
    await service?.stop()
  })

  /** One request to each route, and a create with a known key. The tokens were made before anything is wrong. */
  async function everyRequest(
    key: string,
    [token, tokenOfCard]: readonly [string, string]
  ): Promise<readonly (readonly [string, number, string | null])[]> {
    const send = async (
      method: string,
      path: string,
      body?: unknown
    ): Promise<readonly [string, number, string | null]> => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${service.apiKey}`,
          'Idempotency-Key': `${key} ${path}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      await response.text()
      return [`${method} ${path}`, response.status, response.headers.get('Retry-After')]
    }
    const created = await merchant.create({ key, capture: false, token })
    if (created.status === 201 || created.status === 202) acceptedIds.add(created.payment.id)
    return [
      ['POST /v1/payments', created.status, created.headers.get('Retry-After')],
      ...(await Promise.all([
        send('GET', `/v1/payments/${paymentId}`),
        send('GET', '/v1/payments?limit=5'),
        send('GET', '/v1/payments?status=captured'),
        send('GET', '/v1/payments?external_reference=order-1'),
        send('POST', `/v1/payments/${heldId}/capture`, { amount_cents: 1 }),
        send('POST', `/v1/payments/${paymentId}/cancel`, { amount_cents: 1 }),
        send('GET', `/v1/cards/${cardId}`),
        send('POST', '/v1/cards', { token_id: tokenOfCard }),
        send('GET', '/v1/webhook-endpoint'),
        send('PUT', '/v1/webhook-endpoint', { url: receiver.url }),
        send('GET', '/v1/test/webhook-events?delivery=undeliverable'),
        send('GET', '/v1/test/webhook-events'),
        send('GET', '/v1/capabilities')
      ]))
    ]
  }

  async function whileReplaced(key: string, work: () => Promise<void>): Promise<void> {
    const aside = `{${/\{(.*)\}/.exec(key)?.[1] ?? key}}:aside:${key}`
    const isThere = (await durable.exists(key)) === 1
    if (isThere) await durable.rename(key, aside)
    if (typeOfKey(key) === 'string') await durable.rpush(key, 'x')
    else await durable.set(key, 'x')
    try {
      await work()
    } finally {
      await durable.del(key)
      if (isThere) await durable.rename(aside, key)
    }
  }

  /** The one with a known key meets its record. */
  const nameFor = (key: string): string => (key.includes(':idem:') ? 'the key' : `beside ${key}`)
  const isNamed = async (key: string): Promise<boolean> =>
    (await service.ops('api.1', '/readyz')).text.includes(key) &&
    (await findingOf('types of keys'))?.found.includes(key) === true
  const findingOf = async (check: string): Promise<Finding | undefined> =>
    (await asOperator(service, 'doctor', '--json')).json().findings.find((one: Finding) => one.check === check)

  const durableKeys = (): readonly string[] => [
    ...fixedKeys(16).filter(
      key => !VOUCHING.includes(key.split(':').at(-1) ?? '') && (partitionOfKey(key) ?? partition) === partition
    ),
    keys.merchant(service.merchantId),
    keys.apiKey(service.apiKey.split('_').at(-1)?.slice(0, 8) ?? ''),
    keys.payment(partition, paymentKeyOf(paymentId)),
    keys.payment(partition, paymentKeyOf(heldId)),
    keys.idempotency(partition, idempotencyRecordIdOf(service.merchantId, 'the key')),
    keys.byStatus(partition, service.merchantId, 'pending'),
    keys.byStatus(partition, service.merchantId, 'captured'),
    keys.byReference(partition, service.merchantId),
    keys.card(partition, cardId),
    keys.webhookEndpoint(partition, service.merchantId),
    keys.webhookFailing(partition, service.merchantId),
    keys.webhookLine(partition, service.merchantId),
    keys.webhookUndeliverable(partition, service.merchantId),
    keys.webhookJournal(partition, service.merchantId)
  ]

  it('the payments and events of other partitions go on while a stream is no stream', async () => {
    const other = (partition + 1) % 16
    await whileReplaced(keys.commands(other), () =>
      whileReplaced(keys.deliveries(other), async () => {
        const { status, payment } = await merchant.create()
        expect(status).to.equal(201)
        await until('its event arrives', () => receiver.received.some(({ body }) => body.includes(payment.id)))
        expect((await service.ops('payments.1', '/readyz')).text).to.contain(keys.commands(other))
      })
    )
  })

  it('no request is answered 500, /readyz and doctor name it, and all is well again once it is gone', async () => {
    const found: string[] = []
    const named = new Set<string>()
    for (const key of durableKeys()) {
      const tokens = await Promise.all([merchant.token(), merchant.token()])
      await whileReplaced(key, async () => {
        for (const [request, status, retryAfter] of await everyRequest(nameFor(key), tokens)) {
          if (status < 500) continue
          if (status !== 503 || retryAfter === null) found.push(`${key}: ${request} ${status}`)
          else if (await isNamed(key)) named.add(key)
          else found.push(`${key} is not named after ${request}`)
        }
      })
      await until(`a create after ${key}`, async () => (await merchant.create()).status === 201)
    }
    expect(found).to.deep.equal([])
    for (const key of [keys.reconcile(partition), keys.commands(partition), keys.card(partition, cardId)])
      expect(named).to.include(key)
  })

  it('a command waits, and ends by itself once the key is gone', async () => {
    for (const key of [keys.begun(partition), keys.reconcile(partition)]) {
      let id = ''
      await whileReplaced(key, async () => {
        // It is accepted before the key is wrong where the acceptance needs the key.
        const { status, payment } = await merchant.create({ waitS: 0 })
        if (status === 202) id = payment.id
      })
      if (id !== '') expect((await merchant.settled(id)).status).to.equal('captured')
    }
  })

  it('what was accepted meanwhile has ended, or is a dead letter that ends when it is replayed', async () => {
    await asOperator(service, 'dead-letter', 'replay', '--all', '--reason', 'the keys are well', '--yes')
    for (const id of acceptedIds) expect((await merchant.settled(id)).status).to.equal('pre_authorized')
    const commands = await findingOf('commands')
    expect(commands?.state, commands?.found).to.equal('ok')
  })

  it('the types of all keys are those that doctor expects', async () => {
    for (const key of await durable.keys('*')) {
      const type = await durable.type(key)
      if (!key.endsWith(':fence')) expect(typeOfKey(key), key).to.equal(type)
    }
  })
})
