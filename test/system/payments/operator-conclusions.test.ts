/** An operator says at the end of a doubt what the acquirer's record does not tell. */
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('operator payment conclude', () => {
  const { service, merchant, network } = usePayingService()
  const run = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)

  const paid = async () => (await merchant.create()).payment.id

  it('ends a refund that the network cannot report', async () => {
    const id = await paid()
    network.faults({ drop_before: 1 })
    expect((await merchant.cancel(id, { amount: 3_000 })).status).to.equal(202)
    network.faults({ error_before: 1 })
    expect((await run('payment', 'conclude', id, '--yes')).code).to.equal(2)
    const concluded = await run('payment', 'conclude', id, '--booked', '--yes')
    expect(concluded.out).to.contain('Noted. Nothing more is sent')
    expect(JSON.parse((await run('payment', 'show', id, '--json')).out)).to.have.nested.property('in_doubt.concluded')
    await run('clock', 'advance', '11m')
    await until('the conclusion counts', async () => (await merchant.read(id)).status === 'partially_refunded')
    expect((await merchant.read(id)).refunded_cents).to.equal(3_000)
    expect((await run('payment', 'conclude', id, '--booked', '--yes')).err).to.contain('of it is in doubt')
    network.faults()
  })

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
