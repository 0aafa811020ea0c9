import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

interface Seen {
  readonly flows: Readonly<Record<string, { perSecond: number; p50Ms: number | null }>>
  readonly in_doubt: Readonly<Record<string, number>>
  readonly processes: readonly { readonly name: string; readonly state: string }[]
}

describe('operator top', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()

  it('shows creates, calls, what is in doubt, and every process', async () => {
    network.faults({ drop_before: 1 })
    let isLooking = true
    const looking = asOperator(service(), 'top', '--json', '--every', '3').finally(() => {
      isLooking = false
    })
    while (isLooking) {
      await merchant.create({ waitS: 0 })
      await delay(200)
    }
    const seen = (await looking).json() as Seen
    network.faults()
    expect(seen.flows['creates']?.perSecond).to.be.above(0)
    expect(seen.flows['creates']?.p50Ms).to.be.above(0)
    expect(seen.flows['of these without answer']?.perSecond).to.be.above(0)
    expect(seen.in_doubt['0']).to.be.above(0)
    for (const name of ['api', 'tokens', 'payments', 'timers', 'webhooks', 'notifications']) {
      expect(
        seen.processes.some(process => process.name.startsWith(`${name} at `)),
        name
      ).to.equal(true)
    }
    const { out } = await asOperator(service(), 'top', '--every', '1')
    expect(out)
      .to.match(/^card payments, test/)
      .and.match(/^COMMANDS +\d+ waiting/m)
  })
})
