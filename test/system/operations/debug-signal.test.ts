import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { useService } from '../../support/service.js'

describe('SIGUSR1, at which Node opens a debugger without a password', () => {
  const service = useService()

  for (const name of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']) {
    it(`does nothing to ${name}`, async () => {
      const before = service().pids(name)
      expect(service().kill(name, 'SIGUSR1')).to.be.greaterThan(0)
      await delay(300)
      expect((await service().ops(`${name}.1`, '/healthz')).status).to.equal(200)
      expect(service().pids(name)).to.deep.equal(before)
      expect(service().logs()).not.to.contain('Debugger listening')
    })
  }
})
