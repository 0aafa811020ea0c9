import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { Balancer } from '../../support/balancer.js'
import { until } from '../../support/conditions.js'
import { Merchant, orderOf } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** How often the balancer reads /readyz. */
const CHECK_EVERY_MS = 400
/** Longer than the 5 s for which a stopping `api` lets requests wait. */
const DRAIN_DELAY_MS = 6_500
/** After those 5 s, and before the drain is over. */
const LATE_MS = 5_600
const ARRIVAL_MS = 20
const PAYMENTS = 200

describe('a restart of one api after the other, behind a load balancer that reads /readyz', function () {
  this.timeout(90_000)
  let service: ServiceUnderTest
  let balancer: Balancer
  before(async () => {
    service = await startService({
      scale: ['api=2'],
      env: { LOG_LEVEL: 'warn', DRAIN_DELAY_MS: String(DRAIN_DELAY_MS) }
    })
  })
  after(async () => {
    balancer?.stop()
    await service?.stop()
  })

  const restart = async (instance: string): Promise<void> => {
    const before = service.pids(instance)
    service.kill(instance, 'SIGTERM')
    await until(`${instance} is new`, () => service.pids(instance).some(pid => !before.includes(pid)))
    await service.untilReady()
  }

  it('answers every request with its result, though the balancer repeats none', async () => {
    const merchant = new Merchant(() => service)
    const tokens = await Promise.all(Array.from({ length: PAYMENTS }, () => merchant.token()))
    balancer = new Balancer(service, CHECK_EVERY_MS)
    const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' }
    const read = { headers }
    const create = (): RequestInit => {
      const body = { ...orderOf({}), payment_source: { source_type: 'token', token_id: tokens.pop() } }
      return {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': randomUUID() },
        body: JSON.stringify(body)
      }
    }
    const [reads, creates]: [Promise<number>[], Promise<number>[]] = [[], []]
    const isBalanced = () => until('the balancer knows both', () => balancer.size === 2)
    await isBalanced()
    let isOver = false
    const restarting = (async () => {
      // A request that the balancer sends late, as far as this instance is concerned.
      setTimeout(() => {
        creates.push(fetch(`${service.addresses('api')[0]}/v1/payments`, create()).then(({ status }) => status))
      }, LATE_MS)
      await restart('api.1')
      await isBalanced()
      await restart('api.2')
    })().finally(() => {
      isOver = true
    })
    for (let turn = 0; !isOver; turn++) {
      reads.push(balancer.send('/v1/capabilities', read))
      if (turn % 8 === 0 && tokens.length > 1) creates.push(balancer.send('/v1/payments', create()))
      await delay(ARRIVAL_MS)
    }
    await restarting

    expect(reads.length).to.be.greaterThan(200)
    expect(creates.length).to.be.greaterThan(30)
    expect((await Promise.all(reads)).filter(status => status !== 200)).to.deep.equal([])
    expect((await Promise.all(creates)).filter(status => status !== 201)).to.deep.equal([])
  })
})
