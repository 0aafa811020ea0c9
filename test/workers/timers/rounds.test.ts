import { expect } from 'chai'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { doubtRound } from '../../../workers/timers/rounds.js'
import { ambiguous } from '../../support/fake-network.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

describe('payments in doubt whose wake-up is lost', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  it('are woken by timers, and the others at their own time', async () => {
    const worker = aWorker(test)
    const [lost, kept] = [await worker.created('auto', ambiguous), await worker.created('auto', ambiguous)]
    const keptMs = await worker.wakeUpOf(kept)
    await test.redis.zrem(keys.reconcile(PARTITION), paymentKeyOf(lost.terms.id))
    await doubtRound(test.redis, PARTITION + 1, worker.clock.atMs)
    expect(await worker.wakeUpOf(lost)).to.equal(worker.clock.atMs)
    expect(await worker.wakeUpOf(kept)).to.equal(keptMs)
  })
})
