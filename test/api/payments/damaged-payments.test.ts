import { expect } from 'chai'
import { reportingDamage } from '../../../api/payments/damaged-payments.js'
import { listDeadLetters } from '../../../redis/commands/dead-letters.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { DamagedPayment } from '../../../redis/payments/payment-record.js'
import { createLogger } from '../../../runtime/log.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const everything = {
  status: null,
  externalReference: null,
  limit: 10,
  afterId: null,
  createdFromMs: null,
  createdToMs: null
}

describe('a payment whose record is damaged', () => {
  const test = useRedis()
  beforeEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  async function aPaidPath(): Promise<{
    path: CommandPath
    paymentId: string
    merchantId: string
    work(): Promise<unknown>
  }> {
    const path = await aCommandPath(test, ({ store }) => ({
      store: reportingDamage(store, createLogger('test', 'silent'))
    }))
    const worker = path.worker()
    worker.network.willAnswer(approvedAndCaptured)
    await path.payments.create(aScope('k1'), aCreateRequest(await path.token()))
    await worker.work()
    const { merchantId } = aScope('k1')
    const { payments } = await path.payments.list(merchantId, everything)
    return { path, paymentId: payments[0]?.terms.id ?? '', merchantId, work: () => worker.work() }
  }

  for (const record of ['damaged', '[1]', '[1,2,"m_0000000004",7,7]', '[]', '{}', '"', '\u0000']) {
    it(`${JSON.stringify(record)}: every request that needs it says so, and operators find it once among the dead letters`, async () => {
      const { path, paymentId, merchantId, work } = await aPaidPath()
      const key = keys.payment(PARTITION, paymentKeyOf(paymentId))
      const whole = (await test.redis.get(key)) ?? ''
      await test.redis.set(key, record)
      const requests = [
        () => path.payments.read(merchantId, paymentId),
        () => path.payments.list(merchantId, everything),
        () => path.payments.capture(aScope('k2'), paymentId, 100),
        () => path.payments.create(aScope('k1'), aCreateRequest({ type: 'token', tokenId: 'used' }))
      ]
      for (const request of requests) {
        const error: unknown = await request().catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(DamagedPayment)
        expect((error as DamagedPayment).paymentId).to.equal(paymentId)
        await work()
      }
      const letters = await listDeadLetters(test.redis, PARTITION + 1)
      expect(letters.map(({ command }) => command?.paymentId)).to.deep.equal([paymentId])
      expect(await test.redis.get(key)).to.equal(record)
      await test.redis.set(key, whole)
      expect(await path.payments.read(merchantId, paymentId)).to.have.nested.property('progress.status', 'captured')
    })
  }
})
