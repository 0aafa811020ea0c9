import { expect } from 'chai'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { encodeDelivery } from '../../../redis/webhooks/delivery-entry.js'
import { until } from '../../support/conditions.js'
import { emit, PARTITION, registerEndpoint, useDelivery } from '../../support/webhooks.js'

/** What JavaScript counts as white space, and two characters that end a line. */
const SPACES = ' \u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff'

describe("merchants' texts in webhooks", () => {
  const rig = useDelivery()

  it('deliver a reference with any kind of space as it is', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    const references = [...SPACES].map(space => `nb${space}sp`)
    for (const externalReference of references)
      await emit(rig.test, 'm_1', ['captured'], undefined, { externalReference })
    await rig.noneRemains('m_1')
    expect(hook.received.map(({ event }) => event['external_reference'])).to.have.members(references)
  })

  it('deliver the events of others while those of one merchant cannot be read', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    for (let i = 0; i < 20; i++) {
      const paymentKey = paymentKeyOf(newPaymentId(PARTITION, Date.now()))
      await rig.test.redis.rpush(keys.webhookEvents(PARTITION, paymentKey), 'damaged')
      const delivery = encodeDelivery({ paymentKey, merchantId: 'm_2', kind: 'deliver' })
      await rig.test.redis.xadd(keys.deliveries(PARTITION), '*', ...delivery)
    }
    await rig.deliverer({ slots: 4 })
    await emit(rig.test, 'm_1', ['captured'])
    await until('the event arrives', async () => hook.received.length === 1)
  })
})
