/** An operator says at the end of a doubt what the acquirer's record does not tell. */
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('operator payment conclude', () => {
  const { service, merchant, network } = usePayingService()
  const run = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)

  const paid = async () => (await merchant.create()).payment.id
  const held = async () => (await merchant.create({ capture: false })).payment.id
  const refund = (id: string) => merchant.cancel(id, { amount: 3_000 })
  const capture = (id: string) => merchant.capture(id, { amount: 4_000 })
  const cancel = (id: string) => merchant.cancel(id)
  for (const [what, seen, begin, operate, ends] of [
    ['a refund', '--booked', paid, refund, { status: 'partially_refunded', refunded_cents: 3_000 }],
    ['a refund', '--not-booked', paid, refund, { status: 'captured', refunded_cents: 0 }],
    ['a capture', '--booked', held, capture, { status: 'captured', captured_cents: 4_000 }],
    ['a capture', '--not-booked', held, capture, { status: 'pre_authorized', captured_cents: 0 }],
    ['a cancellation', '--booked', held, cancel, { status: 'canceled' }],
    ['a cancellation', '--not-booked', held, cancel, { status: 'pre_authorized' }]
  ] as const) {
    it(`ends ${what} that the network cannot report: ${seen}`, async () => {
      const id = await begin()
      network.faults({ drop_before: 1 })
      expect((await operate(id)).status).to.equal(202)
      network.faults({ error_before: 1 })
      expect((await run('payment', 'conclude', id, '--yes')).code).to.equal(2)
      expect((await run('payment', 'conclude', id, seen, '--yes')).out).to.contain('Noted. Nothing more is sent')
      expect(JSON.parse((await run('payment', 'show', id, '--json')).out)).to.have.nested.property('in_doubt.concluded')
      await run('clock', 'advance', '11m')
      await until('the conclusion counts', async () => (await merchant.read(id)).status === ends.status)
      expect(await merchant.read(id)).to.include(ends)
      expect((await run('payment', 'conclude', id, seen, '--yes')).err).to.contain('of it is in doubt')
      network.faults()
    })
  }

  it('ends the last query for a payment that has failed', async () => {
    await paid()
    network.faults({ drop_before: 1 })
    const { id } = (await merchant.create()).payment
    network.faults()
    await run('clock', 'advance', '11m')
    await until('it has failed', async () => (await merchant.read(id)).status === 'failed')
    await run('clock', 'advance', '11m')
    expect((await run('payment', 'conclude', id, '--booked', '--yes')).err).to.contain(
      'Have the acquirer void the sale'
    )
    expect((await run('payment', 'conclude', id, '--not-booked', '--yes')).out).to.contain('the payment is failed.')
    expect((await run('payment', 'conclude', id, '--not-booked', '--yes')).err).to.contain('of it is in doubt')
  })

  it('ends an authorisation that the network never reports, and refuses to end it as booked', async () => {
    network.faults({ drop_before: 1 })
    const created = await merchant.create()
    const { id } = created.payment
    expect(created.status).to.equal(202)
    network.faults({ error_before: 1 })
    await run('clock', 'advance', '11m')
    expect((await run('payment', 'conclude', id, '--booked', '--yes')).err).to.contain(
      'Have the acquirer void the sale'
    )
    expect((await run('payment', 'conclude', id, '--not-booked', '--yes')).out).to.contain('the payment is failed.')
    expect((await merchant.read(id)).error).to.include({ code: 'network_unavailable', retryable: true })
    network.faults()
  })
})
