import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { useService } from '../../support/service.js'

describe('SIGUSR1, at which Node opens a debugger without a password, and SIGUSR2, at which it ends', () => {
  const service = useService()

  it('do nothing to any process', async () => {
    const names = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']
    const before = names.flatMap(name => service().pids(name))
    for (const name of names) {
      expect(service().kill(name, 'SIGUSR1'), name).to.be.greaterThan(0)
      service().kill(name, 'SIGUSR2')
    }
    await delay(300)
    for (const name of names) expect((await service().ops(`${name}.1`, '/healthz')).status, name).to.equal(200)
    expect(names.flatMap(name => service().pids(name))).to.deep.equal(before)
    expect(service().logs()).not.to.contain('Debugger listening')
  })
})
