import { expect } from 'chai'
import { listDeadLetters } from '../../../redis/commands/dead-letters.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { FORMAT } from '../../../redis/stored-fields.js'
import { encodeDelivery } from '../../../redis/webhooks/delivery-entry.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { warnOfFailures } from '../../../workers/webhooks/webhooks-metrics.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import {
  emit,
  noMetrics,
  PARTITION,
  PARTITIONS,
  registerEndpoint,
  START_MS,
  useDelivery
} from '../../support/webhooks.js'

/** What JavaScript counts as white space, and two characters that end a line. */
const SPACES = ' \u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff'
const MANY = 60

describe('webhook events that cannot be read, or sent', () => {
  const rig = useDelivery()

  it('can be read and sent with any kind of space in a reference', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    const references = [...SPACES].map(space => `nb${space}sp`)
    for (const externalReference of references)
      await emit(rig.test, 'm_1', ['captured'], undefined, { externalReference })
    await rig.noneRemains('m_1')
    expect(hook.received.map(({ event }) => event['external_reference'])).to.have.members(references)
  })

  /** Stores events of a merchant, each first in the line of its payment. */
  const storeEvents = async (merchantId: string, stored: string): Promise<void> => {
    for (let i = 0; i < MANY; i++) {
      const paymentKey = paymentKeyOf(newPaymentId(PARTITION, Date.now()))
      await rig.test.redis.rpush(keys.webhookEvents(PARTITION, paymentKey), stored)
      const delivery = encodeDelivery({ paymentKey, merchantId, kind: 'deliver' })
      await rig.test.redis.xadd(keys.deliveries(PARTITION), '*', ...delivery)
    }
  }

  it('do not block the events of other merchants when they are damaged, of another version or slow', async () => {
    const hook = await rig.receiver()
    const slow = await rig.receiver(() => undefined)
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await registerEndpoint(rig.test, 'm_slow', slow.url)
    await storeEvents('m_2', 'damaged')
    await storeEvents('m_3', `[${FORMAT + 1},"of another version"]`)
    for (let i = 0; i < MANY; i++) await emit(rig.test, 'm_slow', ['captured'])
    const failures: Record<string, number> = {}
    const failed = (way: string): void => {
      failures[way] = (failures[way] ?? 0) + 1
    }
    await rig.deliverer({ slots: 4, concurrency: 2, timeoutMs: 3_000, metrics: { failed } })
    await emit(rig.test, 'm_1', ['captured'])
    await until('the event of another merchant arrives', () => hook.received.length === 1)

    const letters = await until('damaged events are dead letters', async () => {
      const found = await listDeadLetters(rig.test.redis, PARTITIONS)
      return found.length === MANY && found
    })
    expect(letters[0]).to.deep.include({
      reason: 'A stored webhook event that waits is not a list with a format number.',
      command: null
    })
    expect(letters[0]?.fields).to.deep.include({ event: 'damaged' })
    expect(failures['set_aside']).to.equal(MANY)
    expect(failures['left']).to.be.at.least(MANY)
    const lists = await rig.test.redis.keys(keys.webhookEvents(PARTITION, '*'))
    const firsts = await Promise.all(lists.map(list => rig.test.redis.lindex(list, 0)))
    expect(firsts.filter(first => first?.includes('of another version'))).to.have.length(MANY)
    expect(firsts).not.to.include('damaged')
  })

  it('become dead letters when their command names no payment, and the worker goes on', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    for (const command of ['[1,"***","m_1"]', '[1,7,"m_1"]'])
      await rig.test.redis.xadd(keys.deliveries(PARTITION), '*', 'e', command)
    await rig.deliverer()
    await emit(rig.test, 'm_1', ['captured'])
    await until('the next event arrives', () => hook.received.length === 1)
    const letters = await until('the commands are dead letters', async () => {
      const found = await listDeadLetters(rig.test.redis, PARTITIONS)
      return found.length === 2 && found
    })
    expect(letters[0]).to.include({ reason: 'A stored command names no payment.' })
  })

  it('become dead letters when they are damaged, also while their endpoint is switched off', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const paymentId = await emit(rig.test, 'm_1', ['captured'])
    await rig.test.redis.lset(keys.webhookEvents(PARTITION, paymentKeyOf(paymentId)), 0, '[1,2]')
    await createWebhookEndpointStore(unreplicated(rig.test.redis), PARTITIONS).switchOff('m_1', START_MS)
    await rig.deliverer()
    await until(
      'the event is a dead letter',
      async () => (await listDeadLetters(rig.test.redis, PARTITIONS)).length === 1
    )
    expect(hook.received).to.have.length(0)
  })

  it('let the next event of their payment go on when they are damaged', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const paymentId = await emit(rig.test, 'm_1', ['capturing', 'captured'])
    const events = keys.webhookEvents(PARTITION, paymentKeyOf(paymentId))
    await rig.test.redis.lset(events, 0, '[1,2]')
    await rig.deliverer()
    await rig.noneRemains('m_1')
    expect(hook.received.map(({ event }) => event['status'])).to.deep.equal(['captured'])
  })
})

describe('the warning of webhook events that the service could not deliver', () => {
  it('begins with a failure, and ends ten minutes after the last one', async () => {
    const process = new ConditionsUnderTest()
    let nowMs = START_MS
    const metrics = warnOfFailures(noMetrics, { now: () => nowMs }, process)
    const isWarning = async (): Promise<boolean> => 'webhook events' in (await process.health()).warnings
    expect(await isWarning()).to.equal(false)
    for (const failedMs of [START_MS, START_MS + 500_000]) {
      nowMs = failedMs
      metrics.failed('unsent')
    }
    nowMs += 600_000
    expect(await isWarning()).to.equal(true)
    nowMs += 1
    expect(await isWarning()).to.equal(false)
  })
})
