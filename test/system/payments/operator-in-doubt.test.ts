import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('operator payment in-doubt', () => {
  const { service, merchant, network } = usePayingService()
  const run = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)

  it('lists payments in doubt, and since when, until their outcome is known', async () => {
    network.faults({ drop_before: 1 })
    const { id } = (await merchant.create()).payment
    const { out } = await run('payment', 'in-doubt')
    expect(out).to.match(new RegExp(`^PAYMENT .*\\n(.*\\n)*${id} +unknown +20`))
    const { payments } = (await run('payment', 'in-doubt', '--json')).json() as { payments: Record<string, string>[] }
    expect(payments.find(payment => payment['payment_id'] === id)).to.include({ status: 'unknown' })
    expect((await run('payment', 'in-doubt', '--older-than', '1h')).out).not.to.contain(id)
    expect((await run('payment', 'in-doubt', '--older-than', 'long')).err).to.contain('is not a span of time')
    network.faults()
    // The silence of the network about it counts as its answer.
    await run('clock', 'advance', '11m')
    await until('it is no longer in doubt', async () => !(await run('payment', 'in-doubt')).out.includes(id))
    expect((await merchant.read(id)).status).to.equal('failed')
    await run('clock', 'reset')
  })

  it('ends a doubt that began while the clock was ahead when the clock is set back', async () => {
    await merchant.create()
    await run('clock', 'advance', '3d')
    network.faults({ drop_after: 1 })
    const { id, status } = (await merchant.create()).payment
    expect(status).to.equal('unknown')
    network.faults({ error_before: 1 })
    await run('clock', 'advance', '1s')
    network.faults()
    expect((await run('clock', 'reset')).out).to.contain('the real time')
    await until('its outcome is known', async () => (await merchant.read(id)).status === 'captured')
    expect((await run('payment', 'in-doubt')).out).not.to.contain(id)
  })
})
