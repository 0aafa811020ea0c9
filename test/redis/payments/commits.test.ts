import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import type { OperationResult } from '../../../machines/payment/decide.js'
import { statusChangeOf } from '../../../machines/status-change.js'
import { WAITING_MAX } from '../../../machines/webhook-delivery.js'
import { requeueCommand } from '../../../redis/commands/command-queue.js'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { decodeReply } from '../../../redis/commands/replies.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connect, disconnect } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, PAYMENTS_GROUP, paymentKeyOf } from '../../../redis/keys.js'
import { type Commit, createCommitStore } from '../../../redis/payments/commits.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { encodeDelivery } from '../../../redis/webhooks/delivery-entry.js'
import { decodeQueued, encodeConcluded } from '../../../redis/webhooks/webhook-event.js'
import { createLogger } from '../../../runtime/log.js'
import {
  anAcceptance,
  aPayment,
  CREATED_MS,
  createCommand,
  DAY_MS,
  MERCHANT,
  PARTITION,
  recordIdOf,
  references
} from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

describe('a commit', () => {
  const test = useRedis()
  const commits = () => createCommitStore(unreplicated(test.redis))
  const payments = () => createPaymentStore(unreplicated(test.redis))

  beforeEach(() => ensureGroups(test.redis, PARTITION + 1, paymentWork))
  afterEach(async () => {
    await test.redis.flushdb()
  })

  /** A payment that was accepted, and its command in the hands of a worker. */
  const accepted = async () => {
    const payment = aPayment({ idempotencyKey: 'k1' })
    await payments().acceptPayment(payment, createCommand, anAcceptance({ idempotencyKey: 'k1' }))
    const { entries } = await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 1)
    const [entry] = entries
    if (entry === undefined) throw new Error('the command was not read')
    return { payment, entry }
  }
  const captured = (payment: Payment): Payment => ({
    ...payment,
    version: payment.version + 1,
    progress: { ...payment.progress, status: 'captured', capturedCents: payment.terms.amountCents }
  })
  const write = (payment: Payment, changes: Partial<Commit> = {}): Commit => ({
    payment,
    statusBefore: 'pending',
    wake: { expiryAtMs: null, reconcileAtMs: null },
    operationResult: null,
    nowMs: CREATED_MS,
    ends: null,
    begins: null,
    ...changes
  })
  const concluded = (payment: Payment): OperationResult => ({
    idempotencyKey: 'k1',
    result: { kind: 'succeeded', progress: payment.progress }
  })

  it('writes payment, index, result and acknowledgement at once', async () => {
    const { payment, entry } = await accepted()
    const next = captured(payment)
    const result = await commits().commit(write(next, { operationResult: concluded(next), ends: entry }), PARTITION)

    expect(result).to.equal('committed')
    expect(await payments().load(PARTITION, paymentKeyOf(payment.terms.id))).to.deep.equal(next)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.deep.equal(
      concluded(next).result
    )
    expect(await test.redis.zrange(keys.byStatus(PARTITION, MERCHANT, 'pending'), '0', '-1')).to.deep.equal([])
    expect(await test.redis.zcard(keys.byStatus(PARTITION, MERCHANT, 'captured'))).to.equal(1)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(0)
    expect(await test.redis.xpending(keys.commands(PARTITION), PAYMENTS_GROUP)).to.have.property('0', 0)
  })

  it('wakes the request that waits for the result', async () => {
    const { payment, entry } = await accepted()
    const subscriber = await connect(test.url, 'subscriber', createLogger('test', 'silent'))
    try {
      await subscriber.subscribe(entry.replyTo?.channel ?? '')
      const message = new Promise<string>(resolve => subscriber.on('message', (_channel, text) => resolve(text)))
      const next = captured(payment)
      await commits().commit(write(next, { operationResult: concluded(next), ends: entry }), PARTITION)
      expect(decodeReply(await message)?.commandId).to.equal(entry.replyTo?.commandId)
    } finally {
      await disconnect(subscriber)
    }
  })

  it('refuses a commit on an old version, and changes nothing', async () => {
    const { payment, entry } = await accepted()
    await commits().commit(write(captured(payment)), PARTITION)
    const before = await test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))
    const late = { ...captured(payment), progress: { ...payment.progress, status: 'failed' as const } }
    const result = await commits().commit(write(late, { operationResult: concluded(late), ends: entry }), PARTITION)

    expect(result).to.equal('version_conflict')
    expect(await test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))).to.equal(before)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.equal(null)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
    expect(await test.redis.zcard(keys.byStatus(PARTITION, MERCHANT, 'failed'))).to.equal(0)
  })

  it('does not begin a command that was taken over', async () => {
    const { payment, entry } = await accepted()
    expect(await requeueCommand(test.redis, paymentWork, entry)).to.equal(true)
    expect(await commits().commit(write(captured(payment), { begins: entry }), PARTITION)).to.equal('taken_over')
    await commits().refuse(entry, 'invalid_state', 1)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.equal(null)
    expect(await payments().load(PARTITION, paymentKeyOf(payment.terms.id))).to.deep.equal(payment)
  })

  it('writes no refusal of a payment that has changed since: another command of the same request may have begun', async () => {
    const { payment, entry } = await accepted()
    await commits().commit(write(captured(payment)), PARTITION)
    expect(await commits().refuse(entry, 'invalid_state', payment.version)).to.equal(false)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.equal(null)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(1)
    expect(await commits().refuse(entry, 'invalid_state', payment.version + 1)).to.equal(true)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.have.property('kind', 'refused')
  })

  it('keeps the first result of a request for ever', async () => {
    const { payment, entry } = await accepted()
    const next = captured(payment)
    await commits().commit(write(next, { operationResult: concluded(next) }), PARTITION)
    expect(await commits().refuse(entry, 'invalid_state', next.version)).to.equal(true)
    expect((await payments().readIdempotency(PARTITION, recordIdOf('k1')))?.result).to.have.property(
      'kind',
      'succeeded'
    )
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(0)
  })

  it('sets and takes back the time of the expiry and of the next reconciliation', async () => {
    const { payment } = await accepted()
    const next = captured(payment)
    await commits().commit(write(next, { wake: { expiryAtMs: 42_000, reconcileAtMs: 41_000 } }), PARTITION)
    expect(await test.redis.zscore(keys.due(PARTITION), paymentKeyOf(payment.terms.id))).to.equal('42000')
    expect(await test.redis.zscore(keys.reconcile(PARTITION), paymentKeyOf(payment.terms.id))).to.equal('41000')
    const last = { ...next, version: next.version + 1 }
    await commits().commit(write(last, { statusBefore: 'captured' }), PARTITION)
    expect(await test.redis.zcard(keys.due(PARTITION))).to.equal(0)
    expect(await test.redis.zcard(keys.reconcile(PARTITION))).to.equal(0)
  })

  it('lists a payment that needs manual review, with the reason', async () => {
    const { payment } = await accepted()
    const next = captured(payment)
    await commits().commit(
      write({ ...next, progress: { ...next.progress, reviewReason: 'duplicate_sale' } }),
      PARTITION
    )
    expect(await test.redis.hgetall(keys.review(PARTITION))).to.deep.equal({
      [paymentKeyOf(payment.terms.id)]: 'duplicate_sale'
    })
  })

  it('records whose sale it is as soon as the network has named it', async () => {
    const { payment } = await accepted()
    const sales = (): Promise<Record<string, string>> => test.redis.hgetall(keys.sales(PARTITION, 'abc-1'))
    const unnamed = { ...payment, version: payment.version + 1 }
    await commits().commit(write(unnamed), PARTITION)
    expect(await sales()).to.deep.equal({})
    const next = captured(unnamed)
    const named = { ...next, progress: { ...next.progress, references: { ...references, saleId: 'ABC-1' } } }
    await commits().commit(write(named), PARTITION)
    expect(await sales()).to.deep.equal({ 'abc-1': paymentKeyOf(payment.terms.id) })
  })

  describe('webhook events', () => {
    const commands = () => test.redis.xrange(keys.deliveries(PARTITION), '-', '+')
    const events = (paymentId: string) =>
      test.redis.lrange(keys.webhookEvents(PARTITION, paymentKeyOf(paymentId)), 0, -1)

    it('are written with the change of status when the merchant has an endpoint', async () => {
      await test.redis.set(keys.webhookEndpoint(PARTITION, MERCHANT), 'an endpoint')
      const { payment } = await accepted()
      const next = captured(payment)
      await commits().commit(write(next), PARTITION)
      const refunding = { ...next.progress, status: 'refunding' as const }
      const last = { ...next, version: next.version + 1, progress: refunding }
      await commits().commit(write(last, { statusBefore: 'captured' }), PARTITION)
      const stored = (await events(payment.terms.id)).map(text => decodeQueued(text))
      expect(stored.map(({ change }) => change)).to.deep.equal([
        statusChangeOf(next, CREATED_MS),
        statusChangeOf(last, CREATED_MS)
      ])
      // By the clock of Redis: that of the test environment may have been moved.
      expect(Math.abs((stored[0]?.sinceMs ?? 0) - Date.now())).to.be.below(10_000)
      expect((await commands()).map(([, fields]) => fields)).to.deep.equal([
        encodeDelivery({ paymentKey: paymentKeyOf(payment.terms.id), merchantId: MERCHANT, kind: 'deliver' })
      ])
    })

    it('are listed as undeliverable behind as many as may wait', async () => {
      await test.redis.set(keys.webhookEndpoint(PARTITION, MERCHANT), 'an endpoint')
      const { payment } = await accepted()
      const waiting = Array.from({ length: WAITING_MAX }, (_, n) => `${n} event`)
      await test.redis.rpush(keys.webhookEvents(PARTITION, paymentKeyOf(payment.terms.id)), ...waiting)
      const next = captured(payment)
      await commits().commit(write(next), PARTITION)
      expect(await events(payment.terms.id)).to.deep.equal(waiting)
      const list = keys.webhookUndeliverable(PARTITION, MERCHANT)
      expect(await test.redis.zrange(list, '0', '-1', 'WITHSCORES')).to.deep.equal([
        encodeConcluded({ change: statusChangeOf(next, CREATED_MS), attempts: [] }),
        String(CREATED_MS)
      ])
      // Later ones may all be delivered: then no conclusion would ever end the list.
      expect(await test.redis.pttl(list)).to.be.within(29.9 * DAY_MS, 30 * DAY_MS)
    })

    it('are not written without an endpoint, without a change of status, or on an old version', async () => {
      const { payment } = await accepted()
      const next = captured(payment)
      await commits().commit(write(next), PARTITION)
      await test.redis.set(keys.webhookEndpoint(PARTITION, MERCHANT), 'an endpoint')
      await commits().commit(write({ ...next, version: next.version + 1 }, { statusBefore: 'captured' }), PARTITION)
      await commits().commit(write(next), PARTITION)
      expect(await events(payment.terms.id)).to.deep.equal([])
      expect(await commands()).to.deep.equal([])
    })
  })
})
