import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { paymentsWithoutCommand } from '../../../redis/operator/missing-commands.js'
import { approvedOnly } from '../../support/fake-network.js'
import { MERCHANT, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

const STREAM = keys.commands(PARTITION)
/** In so many the merchant has the partition of the payments. */
const PARTITIONS = 5

describe('payments whose command is in no stream any more', () => {
  const test = useRedis()
  afterEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  const find = () => paymentsWithoutCommand(test.redis, PARTITIONS, [MERCHANT, 'm_0000000002'])

  it('are named with the time of their wake-up', async () => {
    const worker = aWorker(test)
    const [trimmed, kept] = [await worker.accept(), await worker.accept()]
    expect(await find()).to.deep.equal([])
    await test.redis.xtrim(STREAM, 'MAXLEN', 1)
    const [found, ...more] = await find()
    expect([found?.paymentId, more]).to.deep.equal([trimmed.terms.id, []])
    expect(found?.wakesAtMs).to.be.above(worker.clock.atMs)
    await test.redis.xtrim(STREAM, 'MAXLEN', 0)
    expect((await find()).map(({ paymentId }) => paymentId)).to.have.members([trimmed.terms.id, kept.terms.id])
  })

  it('are those whose call may be in flight; what is in doubt or at rest has its own wake-up', async () => {
    const worker = aWorker(test)
    await worker.created('auto', { kind: 'ambiguous', reason: 'no answer' })
    const held = await worker.created('manual', approvedOnly)
    await worker.acceptOperation(held, { kind: 'capture', amountCents: null })
    worker.network.willAnswer(() => new Promise(() => undefined))
    void worker.handle(await worker.takeOne())
    await worker.untilAsked(`capture ${held.terms.amountCents}`)
    expect(await find()).to.deep.equal([])
    await test.redis.xtrim(STREAM, 'MAXLEN', 0)
    expect((await find()).map(({ paymentId }) => paymentId)).to.deep.equal([held.terms.id])
  })
})
