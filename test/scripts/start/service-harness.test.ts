import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { useService } from '../../support/service.js'

const procfile = ['api', 'tokens', 'payments']
  .map(name => `${name}: exec node dist/test/support/tiny-process.js ${name}\n`)
  .join('')

describe('harness of the system tests', function () {
  this.timeout(30_000)
  const service = useService({ procfile, scale: ['payments=2'] })

  it('has the addresses and keys of a running service', async () => {
    expect((await fetch(service().baseUrl)).status).to.equal(200)
    expect(service().apiKey).to.match(/^svc_test\..+\..+$/)
    expect(service().publishableKey).to.match(/^svc_test\.[^.]+$/)
    expect(() => service().networkUrl).to.throw('network does not run')
  })

  it('kills processes by name, and waits until the restarted ones are ready', async () => {
    const before = service().pids('payments')
    expect(before).to.have.length(2)
    expect(service().kill('payments')).to.equal(2)
    await until('both are replaced', () => {
      const now = service().pids('payments')
      return now.length === 2 && now.every(pid => !before.includes(pid))
    })
    await service().untilReady()
    expect(service().logs()).to.contain('payments.1 ended by SIGKILL')
  })

  it('restarts on the same data', async () => {
    const { merchantId } = service()
    await service().restart()
    expect(service().merchantId).to.equal(merchantId)
    expect((await fetch(service().baseUrl)).status).to.equal(200)
  })
})

describe('harness of the system tests, asked again with the same options', () => {
  let port = ''
  const first = useService({ procfile, scale: ['payments=2'] })
  it('is running already', () => {
    port = new URL(first().baseUrl).port
  })

  describe('by another file', () => {
    const second = useService({ procfile, scale: ['payments=2'] })
    it('shares the service', () => {
      expect(new URL(second().baseUrl).port).to.equal(port)
    })
  })
})
