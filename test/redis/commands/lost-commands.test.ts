import { expect } from 'chai'
import { ensureGroups, lostCommands, paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { delay } from '../../../runtime/delay.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

describe('commands whose delivery was lost', () => {
  const test = useRedis()

  it('are found behind hundreds that the worker knows', async () => {
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
    const payments = createPaymentStore(unreplicated(test.redis))
    for (let index = 0; index < 250; index++) {
      const idempotencyKey = `k-${index}`
      await payments.acceptPayment(aPayment({ idempotencyKey }), createCommand, anAcceptance({ idempotencyKey }))
    }
    const { entries } = await readCommands(test.redis, paymentWork, 'a', [PARTITION], 250)
    const lost = [...entries.splice(120, 1), ...entries.splice(-1)]
    const known = new Set(entries.map(({ entryId }) => entryId))
    await delay(1_100)
    const found = await lostCommands(test.redis, paymentWork, 'a', PARTITION, entryId => known.has(entryId))
    expect(found.entries.map(({ entryId }) => entryId)).to.deep.equal(lost.map(({ entryId }) => entryId))
  })
})
