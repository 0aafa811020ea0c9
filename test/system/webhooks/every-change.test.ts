import { expect } from 'chai'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { schemaProblems } from '../../support/documented-answers.js'
import { Merchant, registerHook, testCards } from '../../support/merchant.js'
import { isSignedWith, type Receiver, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { SERVICE_SETTINGS } from '../../support/webhooks.js'

describe('webhooks of a running service', () => {
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
      'a charge whose outcome is not known at first',
      ['unknown', 'captured'],
      async () => (await merchant.create({ card: testCards.silentlyApproved, waitS: 0 })).payment.id
    ]
  ]
  for (const [name, statuses, run] of flows) {
    it(`6.4: announce every change of ${name}, in order, signed, with the figures of that moment`, async () => {
      const id = await run()
      await statusesOf(id, statuses[statuses.length - 1] ?? '')
      const all = receiver.received.filter(({ event }) => event['payment_id'] === id)
      // A receiver that a busy machine holds up gets an event once more.
      const arrived = [...new Map(all.map(request => [request.event['event_id'], request])).values()]
      expect(arrived.map(({ event }) => event['status'])).to.deep.equal(statuses)
      for (const request of all) {
        expect(isSignedWith(secret, request)).to.equal(true)
        expect(schemaProblems('#/components/schemas/WebhookEvent', request.event)).to.deep.equal([])
      }
      const payment = await merchant.read(id)
      const { amount_cents, captured_cents, refunded_cents } = payment
      expect(arrived[arrived.length - 1]?.event).to.include({ amount_cents, captured_cents, refunded_cents })
    })
  }
})
