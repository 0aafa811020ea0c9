import { expect } from 'chai'
import { keys, partitionNumbers } from '../../../redis/keys.js'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { type FinalAnswer, postSurely } from '../../support/failover-client.js'
import { Merchant, orderOf, withRedis } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** Time between two buyers. */
const ARRIVAL_MS = 40
const PAYMENTS_MIN = 50

describe('a rolling restart under load', () => {
  let service: ServiceUnderTest
  before(async () => {
    service = await startService({ scale: ['api=2', 'payments=2'], env: { LOG_LEVEL: 'warn' } })
  })
  after(() => service?.stop())

  it('fails no request, charges each once, and leaves nothing in doubt', async () => {
    const merchant = new Merchant(() => service)
    const pidsBefore = service.pids('payments').concat(service.pids('api'), service.pids('webhooks'))
    // `tokens` has one instance: tokens are made before it is restarted.
    const tokens = await Promise.all(Array.from({ length: 400 }, () => merchant.token()))
    const addresses = service.addresses('api')
    const pay = (token: string, index: number): Promise<FinalAnswer> =>
      postSurely(index % 2 === 0 ? addresses : [...addresses].reverse(), {
        path: '/v1/payments',
        apiKey: service.apiKey,
        body: { ...orderOf({}), payment_source: { source_type: 'token', token_id: token } }
      })
    const traffic: Promise<FinalAnswer>[] = []
    const restart = { isOver: false }
    const restarting = service.rollingRestart().finally(() => {
      restart.isOver = true
    })
    for (const [index, token] of tokens.entries()) {
      if (restart.isOver && index >= PAYMENTS_MIN) break
      traffic.push(pay(token, index))
      await delay(ARRIVAL_MS)
    }
    await restarting
    const answers = await Promise.all(traffic)

    expect(answers.filter(({ status }) => status !== 200 && status !== 201)).to.deep.equal([])
    const statuses = new Set(answers.flatMap(answer => answer.statuses))
    expect(
      [...statuses].filter(status => ![0, 200, 201].includes(status)),
      'refused or in doubt'
    ).to.deep.equal([])
    expect(new Set(answers.map(({ payment }) => payment.id)).size).to.equal(answers.length)
    const sales = (await (await fetch(`${service.networkUrl}/simulator/sales`)).text()).trim().split('\n')
    expect(sales.length).to.equal(answers.length)
    const pidsAfter = service.pids('payments').concat(service.pids('api'), service.pids('webhooks'))
    expect(pidsAfter.length).to.equal(pidsBefore.length)
    expect(pidsAfter.filter(pid => pidsBefore.includes(pid))).to.deep.equal([])
  })

  it('answers 202 to a request that would wait longer than a stop may last', async () => {
    const merchant = new Merchant(() => service)
    const token = await merchant.token()
    service.kill('payments', 'SIGSTOP')
    const answer = merchant.create({ token, waitS: 30 })
    const startedMs = Date.now()
    await until('the request waits', () =>
      withRedis(service, async redis => {
        const commands = await Promise.all(partitionNumbers(16).map(partition => redis.xlen(keys.commands(partition))))
        return commands.some(count => count > 0)
      })
    )
    service.kill('api', 'SIGTERM')
    expect((await answer).status).to.equal(202)
    expect(Date.now() - startedMs).to.be.lessThan(25_000)
    service.kill('payments', 'SIGCONT')
    await service.untilReady()
    expect((await merchant.settled((await answer).payment.id)).status).to.be.oneOf(['captured', 'failed'])
  })
})
