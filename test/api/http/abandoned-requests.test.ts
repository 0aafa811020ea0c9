import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { register } from 'prom-client'
import { reportingDamage } from '../../../api/payments/damaged-payments.js'
import { createTestEnvironment, type TestEnvironment } from '../../../api/test-environment/test-environment.js'
import { testChange, testTerms } from '../../../machines/status-change.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { encodeLineMember } from '../../../redis/webhooks/delivery-entry.js'
import { eventIdOf } from '../../../redis/webhooks/webhook-event.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { storePayment } from '../../support/listed-payments.js'
import { MERCHANT, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { storedWaiting } from '../../support/webhooks.js'
import { aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { requestHead } from '../raw-http.js'
import { type RunningApi, startApi } from '../running-api.js'

const READS = ['lrange', 'mget', 'zrevrange', 'zrangebyscore', 'xrange', 'xrevrange']

/** A client that goes sends the same as one that has its answer: the server has to ask whether an answer is still due. */
describe('the reads of a request whose client has gone', () => {
  const test = useRedis()
  const calls: string[] = []
  /** Reads of this name are answered when the test says so. */
  let held: { readonly name: string; readonly answer: Promise<void> } | undefined
  const sockets: Socket[] = []
  const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  let api: RunningApi

  const watched = (redis: Redis): Redis =>
    new Proxy(redis, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (typeof name !== 'string' || !READS.includes(name)) return member.bind(target)
        return async (...args: unknown[]) => {
          calls.push(name)
          if (held?.name === name) await held.answer
          return await member.apply(target, args)
        }
      }
    })

  before(async () => {
    const redis = watched(test.redis)
    // As in api.ts.
    const store = reportingDamage(createPaymentStore(unreplicated(redis)), createLogger('test', 'silent'))
    const config = { partitions: 1, simulatorUrl: '' }
    const environment = createTestEnvironment({ redis, config, store, clock: { now: Date.now } })
    const testEnvironment: TestEnvironment = { ...environment, chargeBack: async () => undefined }
    api = await startApi({ testEnvironment })
    api.payments.list = (_, filter, signal) =>
      store.list({ ...filter, merchantId: MERCHANT, partition: PARTITION }, signal)
    subscribe('net.server.socket', onSocket)
  })
  after(async () => {
    unsubscribe('net.server.socket', onSocket)
    await api.stop()
  })
  beforeEach(() => {
    register.resetMetrics()
    calls.length = 0
    sockets.length = 0
  })
  afterEach(() => {
    held = undefined
  })

  /** Sends a request, and closes the connection once `isBegun`. Resolves when the server has noticed it. */
  async function abandon(method: string, path: string, isBegun: () => boolean): Promise<void> {
    const client = connect(api.port, '127.0.0.1')
    client.write(requestHead(method, path, { Prefer: 'wait=30' }))
    await until('the request is begun', isBegun)
    const [socket] = sockets
    if (socket === undefined) throw new Error('There is no connection.')
    const noticed = new Promise(resolve => socket.once('end', resolve).once('close', resolve))
    client.destroy()
    await noticed
  }

  /** Reads are held while the client goes; returns those that came before and after. */
  async function readsAround(method: string, path: string, name: string): Promise<{ before: number; after: number }> {
    let answer = (): void => undefined
    held = { name, answer: new Promise(resolve => (answer = resolve)) }
    await abandon(method, path, () => calls.includes(name))
    const before = calls.length
    answer()
    await until('the request has ended', async () => (await statuses()).length === 1)
    return { before, after: calls.length - before }
  }

  it('end with the search for an event', async () => {
    const nowMs = Date.now()
    for (let i = 0; i < 20; i++) {
      const change = testChange(newPaymentId(0, nowMs), nowMs)
      const paymentKey = paymentKeyOf(change.paymentId)
      await test.redis.rpush(keys.webhookEvents(0, paymentKey), storedWaiting(change, testTerms))
      await test.redis.zadd(
        keys.webhookLine(0, 'm_one'),
        nowMs + i,
        encodeLineMember({ paymentKey, merchantId: 'm_one' })
      )
    }
    const wanted = eventIdOf(testChange(newPaymentId(0, nowMs), nowMs))
    const { before, after } = await readsAround('POST', `/v1/test/webhook-events/${wanted}/replay`, 'lrange')
    // One for the undeliverable ones, one for the line, one for its first payment.
    expect({ before, after, status: await statuses() }).to.deep.equal({ before: 3, after: 0, status: ['499'] })
  })

  it('end with the list of the payments of a reference', async () => {
    for (let i = 0; i < 30; i++) await storePayment(test.redis, { atMs: Date.now() })
    const { before, after } = await readsAround('GET', '/v1/payments?external_reference=a&status=failed', 'mget')
    expect({ before, after, status: await statuses() }).to.deep.equal({ before: 1, after: 0, status: ['499'] })
  })

  it('end with the wait for a change in the test environment', async () => {
    api.payments.payment = aPayment({ progress: capturedProgress() })
    await abandon('POST', `/v1/test/payments/${PAYMENT_ID}/chargeback`, () => api.payments.reads.length > 1)
    await until('the request has ended', async () => (await statuses()).length === 1)
    expect(await statuses()).to.deep.equal(['499'])
  })
})

/** Of the requests that have ended, by the metrics. */
async function statuses(): Promise<string[]> {
  const metric = await register.getSingleMetric('card_payments_http_request_duration_seconds')?.get()
  const values = (metric?.values ?? []) as { metricName?: string; labels: Record<string, unknown> }[]
  return values.filter(({ metricName }) => metricName?.endsWith('_count')).map(({ labels }) => String(labels['status']))
}
