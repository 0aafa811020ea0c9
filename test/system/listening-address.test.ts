import { expect } from 'chai'
import { Merchant } from '../support/merchant.js'
import { useService } from '../support/service.js'

/** 0.0.0.0 and :: are left out: a test must not listen on every interface of the machine. */
describe('npm start with HOST=::1', () => {
  const service = useService({ env: { HOST: '::1' } })

  it('takes a first payment', async () => {
    expect(service().baseUrl).to.contain('[::1]')
    expect((await new Merchant(service).create()).payment.status).to.equal('captured')
  })

  it('takes notifications there', async () => {
    const [address = ''] = service().addresses('notifications')
    expect((await fetch(`${address.replace('127.0.0.1', '[::1]')}/`)).status).to.be.greaterThan(399)
  })

  it('keeps the simulator, whose control routes have no password, on 127.0.0.1', async () => {
    const [address = ''] = service().addresses('network')
    expect((await fetch(`${address}/`)).status).to.be.greaterThan(399)
    const failure = await fetch(address.replace('127.0.0.1', '[::1]')).then(
      () => 'answered',
      (error: Error) => String((error.cause as { code?: string }).code)
    )
    expect(failure).to.equal('ECONNREFUSED')
  })
})
