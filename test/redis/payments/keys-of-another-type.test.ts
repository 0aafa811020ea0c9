import { expect } from 'chai'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { createCommitStore } from '../../../redis/payments/commits.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import {
  anAcceptance,
  aPayment,
  CREATED_MS,
  createCommand,
  MERCHANT,
  PARTITION,
  recordIdOf,
  references
} from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

/** Redis keeps what a script has written before a command that fails. A tool of another program may leave such a key. */
describe('a key of another type', () => {
  const test = useRedis()
  const payments = () => createPaymentStore(unreplicated(test.redis))
  const payment = aPayment({ idempotencyKey: 'k1' })
  const paymentKey = paymentKeyOf(payment.terms.id)
  const accept = () => payments().acceptPayment(payment, createCommand, anAcceptance({ idempotencyKey: 'k1' }))
  const recordStored = () => test.redis.get(keys.payment(PARTITION, paymentKey))

  beforeEach(() => ensureGroups(test.redis, PARTITION + 1, paymentWork))
  afterEach(async () => {
    await test.redis.flushdb()
  })

  /** Runs `work` while a text or a list stands where `key` was. Resolves to what `work` rejects with. */
  async function whileReplaced(key: string, work: () => Promise<unknown>): Promise<string> {
    const isThere = (await test.redis.exists(key)) === 1
    if (isThere) await test.redis.rename(key, '{saved}')
    if (key === keys.commitCounter(PARTITION) || key.includes(':idem:')) await test.redis.rpush(key, 'x')
    else await test.redis.set(key, 'x')
    const error = await work().then(String, String)
    await test.redis.del(key)
    if (isThere) await test.redis.rename('{saved}', key)
    return error
  }

  it('stops an acceptance before the payment and its idempotency record are written', async () => {
    for (const key of [
      keys.commands(PARTITION),
      keys.byStatus(PARTITION, MERCHANT, 'pending'),
      keys.byReference(PARTITION, MERCHANT),
      keys.reconcile(PARTITION),
      keys.commitCounter(PARTITION)
    ]) {
      expect(await whileReplaced(key, accept), key).to.contain('WRONGTYPE')
      expect(await recordStored(), key).to.equal(null)
      expect(await payments().readIdempotency(PARTITION, recordIdOf('k1')), key).to.equal(null)
    }
    await accept()
    expect(await recordStored()).not.to.equal(null)
  })

  it('keeps no other authorisation from beginning', async () => {
    const others = ['k2', 'k3', 'k4'].map(idempotencyKey => aPayment({ idempotencyKey }))
    for (const [at, other] of others.entries())
      await payments().acceptPayment(other, createCommand, anAcceptance({ idempotencyKey: `k${at + 2}` }))
    const { entries } = await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 10)
    const second = keys.payment(PARTITION, entries[1]?.paymentKey ?? '')
    await test.redis.del(second)
    await test.redis.rpush(second, 'x')
    const { begin } = createCommitStore(unreplicated(test.redis))
    const outcomes = await Promise.all(entries.map(entry => begin(entry, 1).catch(String)))
    expect(outcomes[1])
      .to.match(/WRONGTYPE .*one of the keys/)
      .and.to.contain(second)
    expect([outcomes[0], outcomes[2]]).to.deep.equal(['begun', 'begun'])
  })

  it('stops a commit before the payment is written, and what marks its authorisation as begun stays', async () => {
    await accept()
    const [entry] = (await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 1)).entries
    if (entry === undefined) throw new Error('the command was not read')
    const commits = createCommitStore(unreplicated(test.redis))
    expect(await commits.begin(entry, payment.version)).to.equal('begun')
    await test.redis.set(keys.webhookEndpoint(PARTITION, MERCHANT), 'any')
    const accepted = await recordStored()
    const progress = { ...payment.progress, status: 'captured' as const, references }
    const commit = (): Promise<unknown> =>
      commits.commit(
        {
          payment: { ...payment, version: 2, progress },
          statusBefore: 'pending',
          wake: { expiryAtMs: CREATED_MS, reconcileAtMs: CREATED_MS },
          operationResult: { idempotencyKey: 'k1', result: { kind: 'succeeded', progress } },
          nowMs: CREATED_MS,
          ends: entry,
          begins: null
        },
        PARTITION
      )
    for (const key of [
      keys.due(PARTITION),
      keys.reconcile(PARTITION),
      keys.review(PARTITION),
      keys.sales(PARTITION, references.saleId ?? ''),
      keys.byStatus(PARTITION, MERCHANT, 'pending'),
      keys.byStatus(PARTITION, MERCHANT, 'captured'),
      keys.commitCounter(PARTITION),
      keys.webhookEvents(PARTITION, paymentKey),
      keys.deliveries(PARTITION),
      keys.idempotency(PARTITION, recordIdOf('k1'))
    ]) {
      expect(await whileReplaced(key, commit), key).to.contain('WRONGTYPE')
      expect(await recordStored(), key).to.equal(accepted)
      expect(await test.redis.hexists(keys.begun(PARTITION), paymentKey), key).to.equal(1)
    }
    expect(await commit()).to.equal('committed')
    expect(await test.redis.hexists(keys.begun(PARTITION), paymentKey)).to.equal(0)
    const waiting = await test.redis.lrange(keys.webhookEvents(PARTITION, paymentKey), 0, -1)
    expect(waiting, 'one event').to.have.length(1)
    expect(await test.redis.xlen(keys.deliveries(PARTITION)), 'with its command').to.equal(1)
  })
})
