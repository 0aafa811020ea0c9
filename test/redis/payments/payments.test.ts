import { expect } from 'chai'
import type { Payment, RefusalCode } from '../../../machines/model.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import type { ListQuery } from '../../../redis/payments/list-payments.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { listedPages, moveTo } from '../../support/listed-payments.js'
import { anAcceptance, aPayment, createCommand, MERCHANT, PARTITION, recordIdOf } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const RETENTION_MS = 30 * 24 * 3_600_000

describe('payment store', () => {
  const test = useRedis()
  const store = () => createPaymentStore(unreplicated(test.redis))

  afterEach(async () => {
    await test.redis.flushdb()
  })

  const accept = async (changes: Parameters<typeof aPayment>[0] = {}, idempotencyKey = `k-${Math.random()}`) => {
    const payment = aPayment({ ...changes, idempotencyKey })
    expect(await store().acceptPayment(payment, createCommand, anAcceptance({ idempotencyKey }))).to.equal(null)
    return payment
  }
  const capture = (payment: Payment, refusal: RefusalCode | null = null, isKnown = false) =>
    store().acceptOperation(
      { payment, command: { kind: 'capture', amountCents: null }, refusal, isKnown },
      anAcceptance({ idempotencyKey: 'key-of-the-capture' }),
      RETENTION_MS
    )

  it('accepts a payment together with its command and its idempotency record', async () => {
    const payment = await accept({}, 'k1')
    expect(await store().load(PARTITION, paymentKeyOf(payment.terms.id))).to.deep.equal(payment)
    expect(await store().readIdempotency(PARTITION, recordIdOf('k1'))).to.deep.equal({
      fingerprint: 'fingerprint',
      paymentKey: paymentKeyOf(payment.terms.id),
      kind: 'create',
      result: null
    })
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
    expect(await test.redis.pttl(keys.idempotency(PARTITION, recordIdOf('k1')))).to.equal(-1)
  })

  it('accepts nothing for a key that was used before, and says by which payment', async () => {
    const first = await accept({}, 'k1')
    const second = aPayment({ idempotencyKey: 'k1' })
    const earlier = await store().acceptPayment(second, createCommand, anAcceptance({ idempotencyKey: 'k1' }))
    expect(earlier?.paymentKey).to.equal(paymentKeyOf(first.terms.id))
    expect(await store().load(PARTITION, paymentKeyOf(second.terms.id))).to.equal(null)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
  })

  it('accepts an operation of the own payment, and remembers its key for the retention', async () => {
    const payment = await accept()
    const accepted = await capture(payment)
    expect(accepted).to.deep.equal({ kind: 'accepted', payment })
    const ttlMs = await test.redis.pttl(keys.idempotency(PARTITION, recordIdOf('key-of-the-capture')))
    expect(ttlMs).to.be.within(RETENTION_MS - 10_000, RETENTION_MS)
  })

  it('writes the command of a repeated operation again when it has had no result for a minute: it may be lost', async () => {
    const payment = await accept()
    await capture(payment)
    const record = keys.idempotency(PARTITION, recordIdOf('key-of-the-capture'))
    const repeatedAfter = async (ageMs: number): Promise<string> => {
      await test.redis.pexpire(record, RETENTION_MS - ageMs)
      return (await capture(payment)).kind
    }
    expect(await repeatedAfter(50_000)).to.equal('earlier')
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(2)
    expect(await repeatedAfter(61_000)).to.equal('accepted')
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(3)
    expect(await test.redis.pttl(record), 'a life of its own').to.be.within(RETENTION_MS - 10_000, RETENTION_MS)
  })

  it('accepts nothing for a request whose refund the payment has, with its record and without', async () => {
    const payment = await accept()
    const record = keys.idempotency(PARTITION, recordIdOf('key-of-the-capture'))
    expect(await capture(payment, null, true)).to.deep.equal({ kind: 'known', payment })
    expect(await test.redis.exists(record)).to.equal(0)
    await capture(payment)
    expect(await capture(payment, null, true)).to.have.property('kind', 'earlier')
    await test.redis.pexpire(record, RETENTION_MS - 61_000)
    expect(await capture(payment, null, true), 'lost').to.have.property('kind', 'known')
    expect(await test.redis.xlen(keys.commands(PARTITION)), 'of the create and of the capture').to.equal(2)
  })

  it('records a refusal under the key, and puts no command into the stream', async () => {
    const payment = await accept()
    expect(await capture(payment, 'invalid_state')).to.have.property('kind', 'accepted')
    expect(await store().readIdempotency(PARTITION, recordIdOf('key-of-the-capture'))).to.deep.include({
      kind: 'capture',
      result: { kind: 'refused', code: 'invalid_state' }
    })
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
  })

  it('neither accepts nor refuses an operation for a version that is not stored any more', async () => {
    const payment = await accept()
    for (const refusal of [null, 'invalid_state'] as const) {
      expect(await capture({ ...payment, version: 2 }, refusal)).to.deep.equal({ kind: 'changed', payment })
    }
    expect(await capture(aPayment())).to.deep.equal({ kind: 'changed', payment: null })
    expect(await store().readIdempotency(PARTITION, recordIdOf('key-of-the-capture'))).to.equal(null)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
  })

  it('gives what an earlier operation with the same key left', async () => {
    const payment = await accept()
    await capture(payment)
    const again = await capture(payment)
    expect(again).to.have.property('kind', 'earlier')
    expect(again).to.have.nested.property('earlier.kind', 'capture')
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(2)
  })

  describe('list', () => {
    const EVER = { createdFromMs: null, createdToMs: null }
    const query = {
      partition: PARTITION,
      merchantId: MERCHANT,
      status: null,
      externalReference: null,
      ...EVER,
      limit: 2
    }
    const pages = (changes: Partial<ListQuery>) => listedPages(test.redis, changes)
    const fail = (payment: Payment) => moveTo(test.redis, payment, 'failed')

    it('finds a status among more payments of one reference than a page looks through', async () => {
      const oldest = await accept()
      for (let i = 0; i < 500; i++) await accept()
      await fail(oldest)
      const found = await pages({ status: 'failed', externalReference: oldest.terms.externalReference })
      expect(found.length).to.be.greaterThan(1)
      expect(found.flat()).to.deep.equal([oldest.terms.id])
    })

    it('ends a page early that is full of metadata, also while it looks for a status', async () => {
      const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, pair) => [`pair ${pair}`, '語'.repeat(500)]))
      const [ids, read] = [[] as string[], [] as number[]]
      for (let i = 0; i < 40; i++) ids.unshift((await accept({ terms: { metadata, externalReference: 'a' } })).terms.id)
      const mget = async (records: string[]): Promise<(string | null)[]> => {
        read.push(records.length)
        return await test.redis.mget(records)
      }
      const counting = createPaymentStore(unreplicated(Object.create(test.redis, { mget: { value: mget } })))
      const first = await counting.list({ ...query, limit: 100, afterId: null })
      expect(first.payments.length).to.be.within(1, 20)
      expect(read.reduce((sum, count) => sum + count, 0)).to.be.at.most(25)
      expect((await pages({ limit: 100 })).flat()).to.deep.equal(ids)
      expect((await pages({ externalReference: 'a', status: 'failed' })).length).to.be.greaterThan(2)
    })

    it('continues after payments that left their status between the index and the record', async () => {
      const old = [await accept(), await accept(), await accept(), await accept()]
      const mget = async (records: string[]): Promise<(string | null)[]> => {
        for (const payment of old.slice(2)) await fail(payment)
        return await test.redis.mget(records)
      }
      const page = await createPaymentStore(unreplicated(Object.create(test.redis, { mget: { value: mget } }))).list({
        ...query,
        status: 'pending',
        afterId: null
      })
      const rest = await store().list({ ...query, status: 'pending', afterId: page.nextAfterId })
      const found = [...page.payments, ...rest.payments].map(({ terms }) => terms.id)
      expect(found).to.deep.equal([old[1], old[0]].map(one => one?.terms.id))
      expect(rest.nextAfterId).to.equal(null)
    })

    it('shows no payments of other merchants', async () => {
      await accept()
      expect(await pages({ merchantId: 'm_0000000002' })).to.deep.equal([[]])
    })
  })
})
