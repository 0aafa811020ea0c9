import { expect } from 'chai'
import type { Finding } from '../../../scripts/operator/doctor/finding.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, orderOf, withRedis } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

describe('when the durable Redis is in trouble', () => {
  let service: ServiceUnderTest
  const merchant = new Merchant(() => service)
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'warn' } })
  })
  after(() => service?.stop())

  const admin = (...command: [string, ...string[]]): Promise<unknown> =>
    withRedis(service, redis => redis.call(...command))
  const refused = async (): Promise<void> => {
    const answer = await until('a create is refused', async () => {
      const tried = await merchant.create()
      return tried.status === 503 ? tried : undefined
    })
    expect(answer.error).to.include({ code: 'service_unavailable', retryable: true })
    expect(answer.headers.has('Retry-After')).to.equal(true)
  }

  it('full: writes get 503, reads continue, and all works again as soon as there is room', async () => {
    const before = await merchant.create({ capture: false })
    await admin('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await refused()
      expect((await merchant.read(before.payment.id)).status).to.equal('pre_authorized')
      expect((await merchant.capture(before.payment.id)).status).to.equal(503)
    } finally {
      await admin('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect((await merchant.capture(before.payment.id)).payment.status).to.equal('captured')
  })

  it('frozen: each process has one problem, which names it, and doctor finds one', async () => {
    service.kill('redis', 'SIGSTOP')
    try {
      for (const name of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']) {
        await until(`${name} has one problem`, async () => {
          const { problems, warnings } = JSON.parse((await service.ops(`${name}.1`, '/readyz')).text)
          return Object.keys(problems).join() === 'durable redis' && Object.keys(warnings).length === 0
        })
      }
      await until('doctor finds one', async () => {
        const { json } = await asOperator(service, 'doctor', '--json')
        const found = json().findings.filter(({ state }: Finding) => state === 'problem' || state === 'warning')
        return found.map(({ check }: Finding) => check).join() === 'durable redis'
      })
    } finally {
      service.kill('redis', 'SIGCONT')
    }
    await until('payments are taken', async () => (await merchant.create()).status === 201)
  })

  // The last one: nothing brings the data back.
  it('emptied by hand: every request is answered 503, no key is called wrong, and /readyz says what to do', async () => {
    const names = ['api', 'tokens', 'payments', 'timers', 'webhooks']
    const pids = names.flatMap(name => service.pids(name))
    await admin('FLUSHALL')
    const answers: (readonly [number, unknown])[] = []
    await until('a request is refused', async () => {
      const { status, error } = await merchant.post('/v1/payments', orderOf({}))
      answers.push([status, error.code])
      return status === 503
    })
    // The body is not complete. It is refused as such only while the data is known to be whole.
    expect(answers.slice(0, -1).filter(([status]) => status !== 400)).to.deep.equal([])
    expect(answers.at(-1)).to.deep.equal([503, 'service_unavailable'])
    // Each process finds it at its own next look.
    for (const name of names) {
      const ready = await until(`${name} says so`, async () => {
        const found = await service.ops(`${name}.1`, '/readyz')
        return /The Redis of REDIS_URL is empty.* bring that data back/.test(found.text) && found
      })
      expect(ready.status, name).to.equal(503)
    }
    expect(names.flatMap(name => service.pids(name))).to.deep.equal(pids)
  })
})
