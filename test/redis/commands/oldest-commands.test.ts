import { expect } from 'chai'
import { ensureGroups, paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { listOldestCommands } from '../../../redis/commands/oldest-commands.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const PARTITIONS = PARTITION + 1

describe('the commands that have waited longest', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  it('are listed oldest first, with the worker that holds them', async () => {
    await test.redis.xadd(keys.commands(0), `${Date.now() - 60_000}-0`, 'nonsense', '1')
    const payment = aPayment({ idempotencyKey: 'r' })
    await createPaymentStore(unreplicated(test.redis)).acceptPayment(
      payment,
      createCommand,
      anAcceptance({ idempotencyKey: 'r' })
    )
    await ensureGroups(test.redis, PARTITIONS, paymentWork)
    await readCommands(test.redis, paymentWork, 'host.1.a', [PARTITION], 10)
    const [nonsense, ours] = await listOldestCommands(test.redis, PARTITIONS, 10)
    expect(nonsense).to.include({ partition: 0, worker: null, command: null })
    expect(nonsense?.ageMs).to.be.within(55_000, 600_000)
    expect(ours).to.include({ partition: PARTITION, worker: 'host.1.a' })
    expect(ours?.command?.paymentKey).to.equal(paymentKeyOf(payment.terms.id))
    expect((await listOldestCommands(test.redis, PARTITIONS, 1)).map(({ partition }) => partition)).to.deep.equal([0])
  })

  it('have no worker in a stream that no worker has ever read', async () => {
    await test.redis.xadd(keys.commands(0), '*', 'nonsense', '1')
    expect((await listOldestCommands(test.redis, PARTITIONS, 5)).map(({ worker }) => worker)).to.deep.equal([null])
  })
})
