import { expect } from 'chai'
import { connect, disconnect } from '../../../redis/connection/connections.js'
import { newPaymentId, partitionOf } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { schemaProblems } from '../../support/documented-answers.js'
import { Merchant, registerHook, testCards } from '../../support/merchant.js'
import { isSignedWith, type Receiver, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { emit, SERVICE_SETTINGS } from '../../support/webhooks.js'

const KILLED_AT = 5_000
const PARTITIONS = 16

describe('webhooks of a running service', function () {
  this.timeout(60_000)
  const service = useService({ env: SERVICE_SETTINGS })
  const merchant = new Merchant(service)
  let receiver: Receiver
  let secret = ''

  before(async () => {
    receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    secret = await registerHook(service(), receiver.url)
  })
  after(() => receiver.stop())

  const statusesOf = (paymentId: string, last: string): Promise<string[]> =>
    until(`the webhook of ${last}`, () => {
      const statuses = [...new Set(receiver.accepted().get(paymentId))]
      return statuses[statuses.length - 1] === last && statuses
    })

  const flows: [string, string[], () => Promise<string>][] = [
    ['a charge', ['captured'], async () => (await merchant.create()).payment.id],
    [
      'a declined charge',
      ['failed'],
      async () => (await merchant.create({ card: testCards.declined })).error.payment_id ?? ''
    ],
    [
      'a pre-authorisation that is captured in part and refunded in two parts',
      ['pre_authorized', 'capturing', 'captured', 'refunding', 'partially_refunded', 'refunding', 'refunded'],
      async () => {
        const { id } = (await merchant.create({ capture: false, amount: 2_000 })).payment
        await merchant.capture(id, { amount: 1_500 })
        await merchant.cancel(id, { amount: 500 })
        await merchant.cancel(id)
        return id
      }
    ],
    [
      'a pre-authorisation that is canceled',
      ['pre_authorized', 'cancelling', 'canceled'],
      async () => {
        const { id } = (await merchant.create({ capture: false })).payment
        await merchant.cancel(id)
        return id
      }
    ],
    [
      'a charge whose outcome is not known at first',
      ['unknown', 'captured'],
      async () => (await merchant.create({ card: testCards.silentlyApproved, waitS: 0 })).payment.id
    ]
  ]
  for (const [name, statuses, run] of flows) {
    it(`6.4: announce every change of ${name}, in order, signed, with the figures of that moment`, async () => {
      const id = await run()
      await statusesOf(id, statuses[statuses.length - 1] ?? '')
      const arrived = receiver.received.filter(({ event }) => event['payment_id'] === id)
      expect(arrived.map(({ event }) => event['status'])).to.deep.equal(statuses)
      expect(new Set(arrived.map(({ event }) => event['event_id'])).size).to.equal(statuses.length)
      for (const request of arrived) {
        expect(isSignedWith(secret, request)).to.equal(true)
        expect(schemaProblems('#/components/schemas/WebhookEvent', request.event)).to.deep.equal([])
      }
      const payment = await merchant.read(id)
      const { amount_cents, captured_cents, refunded_cents } = payment
      expect(arrived[arrived.length - 1]?.event).to.include({ amount_cents, captured_cents, refunded_cents })
    })
  }

  it(`all arrive when the process is killed twice during ${KILLED_AT} events, in order`, async () => {
    const redis = await connect(service().redisUrl, 'commands', createLogger('test', 'silent'))
    const partition = partitionOf(service().merchantId, PARTITIONS)
    const before = receiver.received.length
    const ids = Array.from({ length: KILLED_AT / 2 }, () => newPaymentId(partition, Date.now()))
    for (let from = 0; from < ids.length; from += 100) {
      const some = ids.slice(from, from + 100)
      await Promise.all(
        some.map(id => emit({ redis }, service().merchantId, ['capturing', 'captured'], id, { partitions: PARTITIONS }))
      )
    }
    await disconnect(redis)
    for (const share of [0.2, 0.5]) {
      await until('a part has arrived', () => receiver.received.length - before > share * KILLED_AT, 20_000)
      expect(service().kill('webhooks')).to.equal(1)
    }
    const isComplete = (): boolean => {
      const accepted = receiver.accepted()
      return ids.every(id => accepted.get(id)?.includes('captured'))
    }
    await until('all have arrived', () => receiver.received.length - before >= KILLED_AT && isComplete(), 30_000)
    const accepted = receiver.accepted()
    for (const id of ids) expect([...new Set(accepted.get(id))]).to.deep.equal(['capturing', 'captured'])
    // Two kills, each of which repeats what was under way; a process that a busy machine holds up for too long does the same.
    const repeated = receiver.received.length - before - KILLED_AT
    expect(repeated, 'events that arrived twice').to.be.within(0, 2 * 2 * 128)
    await service().untilReady()
  })
})
