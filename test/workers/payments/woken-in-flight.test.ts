import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

describe('a payment whose command is late', () => {
  const test = useRedis()

  it('is left to it by a wake-up that comes before the takeover, and fails by a wake-up when there is none', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    // Its worker dies with it, and nothing has requeued it yet.
    await aWorker(test, undefined, 'dead').takeOne()
    await worker.fire(payment)
    expect((await worker.load(payment)).progress.status).to.equal('pending')
    await test.redis.xtrim(keys.commands(PARTITION), 'MAXLEN', 0)
    await worker.fire(payment)
    expect((await worker.load(payment)).progress).to.include({ status: 'failed', error: 'authorization_overdue' })
  })
})
