import { expect } from 'chai'
import { textsOfBuyer, withoutTexts } from '../../../machines/merchant-text-rules.js'
import { encodeServiceCommand } from '../../../redis/commands/command-entry.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { requestErasure } from '../../../redis/operator/review.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { everyText, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

describe('a payments worker that erases a buyer', () => {
  const test = useRedis()

  it('replaces the buyer, and the texts and metadata that may name him, once, and changes nothing else', async () => {
    const worker = aWorker(test)
    const accepted = await worker.created('auto', approvedAndCaptured)
    const before = await worker.load(accepted)
    const terms = { ...before.terms, ...everyText('a text'), metadata: { buyer: 'Ada Lovelace' } }
    const place = keys.payment(PARTITION, paymentKeyOf(before.terms.id))
    await test.redis.set(place, encodePayment({ ...before, terms }))

    for (let times = 0; times < 2; times++) {
      await requestErasure(test.redis, before.terms.id)
      await worker.work()
    }
    const { progress, version, history, ...erased } = await worker.load(accepted)
    expect(erased.terms).to.deep.equal({
      ...terms,
      ...withoutTexts(textsOfBuyer),
      customer: { name: 'erased', email: 'erased@erased.invalid' },
      metadata: null
    })
    expect(progress).to.deep.equal(before.progress)
    expect(version).to.equal(before.version + 1)
    expect(history.map(({ event }) => event)).to.deep.equal(['APPROVED', 'BUYER_ERASED'])
    expect(await test.redis.get(place)).not.to.match(/Ada|ada@example/)
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('leaves a payment alone whose operation is in progress', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    const create = await worker.takeOne()
    const command = encodeServiceCommand(payment.terms.id, { kind: 'erase_buyer' })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...command)
    await worker.handle(await worker.takeOne())
    expect((await worker.load(payment)).terms.customer.name).to.equal('Ada Lovelace')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.handle(create)
    expect((await worker.load(payment)).progress.status).to.equal('captured')
  })

  it('tries again when the payment was changed meanwhile', async () => {
    let conflicts = 0
    const worker = aWorker(test, ({ commits }) => ({
      commits: {
        ...commits,
        commit: async (write, partition) => {
          const isErasure = write.payment.history.at(-1)?.event === 'BUYER_ERASED'
          return isErasure && conflicts++ === 0 ? 'version_conflict' : await commits.commit(write, partition)
        }
      }
    }))
    const payment = await worker.created('auto', approvedAndCaptured)
    await requestErasure(test.redis, payment.terms.id)
    await worker.work()
    expect(conflicts).to.equal(2)
    expect((await worker.load(payment)).terms.customer.name).to.equal('erased')
  })
})
