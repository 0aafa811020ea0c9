import { expect } from 'chai'
import { placeOf } from '../../../machines/model.js'
import { VaultError } from '../../../vault/vault-error.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { CREATED_MS } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

/** A worker whose key file is of before the last rotation. */
const withOldKeys = ({ cardData }: WorkerDeps): Partial<WorkerDeps> => ({
  cardData: {
    ...cardData,
    open: () => Promise.reject(new VaultError('unknown_key', 'The box was sealed with a newer key.'))
  }
})

describe('a payments worker without the key of a card', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  it('leaves the sale to a worker that has the key: it is sent once', async () => {
    const old = aWorker(test, withOldKeys)
    const payment = await old.accept()
    await old.handle(await old.takeOne())
    expect(placeOf((await old.load(payment)).progress)).to.equal('pending')
    expect(old.released).to.deep.equal([])
    const current = aWorker(test)
    current.network.willAnswer(approvedAndCaptured)
    await current.work()
    expect(placeOf((await current.load(payment)).progress)).to.equal('captured')
    expect([old.network.asked, current.network.asked]).to.deep.equal([[], ['authorise']])
  })

  it('ends the sale unsent, and releases its token, when no worker with the key has come for a minute', async () => {
    const old = aWorker(test, withOldKeys)
    const payment = await old.accept()
    await old.handle(await old.takeOne())
    old.clock.atMs = CREATED_MS + 61_000
    await old.work()
    expect((await old.load(payment)).progress).to.include({ status: 'failed', error: 'card_unreadable' })
    expect(old.released).to.deep.equal([payment.terms.id])
    expect(old.network.asked).to.deep.equal([])
    expect(await old.left()).to.deep.equal({ commands: 0, letters: 0 })
  })
})
