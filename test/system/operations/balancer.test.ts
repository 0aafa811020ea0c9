import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { errorCatalogue } from '../../../contract/errors.js'
import { keys, partitionNumbers } from '../../../redis/keys.js'
import { delay } from '../../../runtime/delay.js'
import { demoCard } from '../../../scripts/start/demo-customer.js'
import { until } from '../../support/conditions.js'
import { Haproxy } from '../../support/haproxy.js'
import { Merchant, orderOf, withRedis } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'
import { bookedOrders } from '../../support/simulator.js'

/** After the 5 s for which a stopping `api` lets requests wait, and before its drain is over. */
const LATE_MS = 5_600
const DRAIN_DELAY_MS = 6_500
const ARRIVAL_MS = 20
const PAYMENTS = 200
const READS_MIN = 200

const codeOf = (body: string): string => (JSON.parse(body) as { error: { code: string } }).error.code

describe('behind HAProxy with deploy/haproxy.cfg', () => {
  let service: ServiceUnderTest
  let proxy: Haproxy
  let headers: Record<string, string>
  const merchant = new Merchant(() => service)
  before(async () => {
    service = await startService({
      scale: ['api=2', 'payments=2'],
      env: { LOG_LEVEL: 'warn', DRAIN_DELAY_MS: String(DRAIN_DELAY_MS), TRUSTED_PROXIES: '1' }
    })
    headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' }
    proxy = await Haproxy.start(service)
  })
  after(async () => {
    await proxy?.stop()
    await service?.stop()
  })

  const pay = async (token: string): Promise<number> => {
    const body = { ...orderOf({}), payment_source: { source_type: 'token', token_id: token } }
    const options = { method: 'POST', headers: { ...headers, 'Idempotency-Key': randomUUID() } }
    return (await proxy.send('/v1/payments', options, JSON.stringify(body))).status
  }

  it('takes a card and a payment, each at its name, and nothing at another', async () => {
    const options = { method: 'POST', headers: { ...headers, Authorization: `Bearer ${service.publishableKey}` } }
    const token = await proxy.send('/v1/tokens', { ...options, host: '127.0.0.1' }, JSON.stringify(demoCard))
    expect(token.status, token.body).to.equal(201)
    expect(await pay((JSON.parse(token.body) as { token_id: string }).token_id)).to.equal(201)
    const elsewhere = await proxy.send('/v1/capabilities', {
      servername: 'localhost',
      headers: { ...headers, Host: 'other.example' }
    })
    expect([elsewhere.status, codeOf(elsewhere.body)]).to.deep.equal([421, 'not_found'])
  })

  it('lets the card network alone reach notifications', async () => {
    const message = { method: 'POST', port: proxy.networkPort }
    expect((await proxy.send('/', message)).status).to.equal(404)
    const strangers = await Haproxy.start(service, '192.0.2.0/24')
    const refused = await strangers.send('/', { ...message, port: strangers.networkPort })
    await strangers.stop()
    expect([refused.status, codeOf(refused.body)]).to.deep.equal([403, 'unauthorized'])
  })

  it('answers a request that is too large with the envelope of the service', async () => {
    for (const length of [20_000, 60_000]) {
      const large = { ...headers, 'Idempotency-Key': 'x'.repeat(length) }
      const answer = await proxy.send('/v1/capabilities', { headers: large })
      expect([answer.status, codeOf(answer.body)], `${length}`).to.deep.equal([431, 'invalid_request'])
    }
  })

  it('takes forward secrecy and authenticated encryption only, and gives no session ticket', async () => {
    const old = ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-GCM-SHA256', 'DHE-RSA-AES128-SHA']
    expect(await proxy.handshake(`${old.join(':')}:@SECLEVEL=0`)).to.equal(null)
    const good = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'
    expect(await proxy.handshake(good)).to.deep.equal({ hasTicket: false })
  })

  it('answers every request with its result while one process after the other restarts, repeats none, and charges each once', async () => {
    const tokens = await Promise.all(Array.from({ length: PAYMENTS }, () => merchant.token()))
    const [reads, creates]: [Promise<number>[], Promise<number>[]] = [[], []]
    const restart = async (instance: string): Promise<void> => {
      const before = service.pids(instance)
      service.kill(instance, 'SIGTERM')
      await until(`${instance} is new`, () => service.pids(instance).some(pid => !before.includes(pid)))
      await service.untilReady()
      await until('HAProxy uses both', () => proxy.uses('api-1') && proxy.uses('api-2'))
    }
    const salesBefore = (await bookedOrders(service)).length
    let isOver = false
    const restarting = (async () => {
      // A late request for the instance that stops: on a connection that is as good as cut, yet it is answered.
      const late = delay(LATE_MS).then(() => creates.push(pay(tokens.pop() ?? '')))
      await restart('api.1')
      await late
      for (const instance of ['payments.1', 'payments.2', 'timers.1', 'webhooks.1', 'api.2']) await restart(instance)
    })().finally(() => {
      isOver = true
    })
    for (let turn = 0; !isOver || reads.length < READS_MIN; turn++) {
      reads.push(proxy.send('/v1/capabilities', { headers }).then(({ status }) => status))
      if (turn % 8 === 0 && tokens.length > 1) creates.push(pay(tokens.pop() ?? ''))
      await delay(ARRIVAL_MS)
    }
    await restarting

    expect((await Promise.all(reads)).filter(status => status !== 200)).to.deep.equal([])
    expect((await Promise.all(creates)).filter(status => status !== 201)).to.deep.equal([])
    expect((await bookedOrders(service)).length - salesBefore).to.equal(creates.length)
  })

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`answers 202 to a request that would wait longer than a stop by ${signal} may last`, async () => {
      const token = await merchant.token()
      service.kill('payments', 'SIGSTOP')
      const answer = merchant.create({ token, waitS: 30 })
      const startedMs = Date.now()
      await until('the request waits', () =>
        withRedis(service, async redis => {
          const commands = await Promise.all(
            partitionNumbers(16).map(partition => redis.xlen(keys.commands(partition)))
          )
          return commands.some(count => count > 0)
        })
      )
      service.kill('api', signal)
      expect((await answer).status).to.equal(202)
      expect(Date.now() - startedMs).to.be.lessThan(25_000)
      service.kill('payments', 'SIGCONT')
      await service.untilReady()
      expect((await merchant.settled((await answer).payment.id)).status).to.be.oneOf(['captured', 'failed'])
    })
  }

  it('uses the other api when one dies, and answers with the envelope of the service when no api is left', async () => {
    service.kill('api.1')
    for (let count = 0; count < 20; count++) {
      expect((await proxy.send('/v1/capabilities', { headers })).status).to.equal(200)
    }
    await service.untilReady()
    await until('HAProxy uses both', () => proxy.uses('api-1') && proxy.uses('api-2'))
    service.kill('api')
    const answer = await until('HAProxy has no instance', async () => {
      const { status, headers: told, body } = await proxy.send('/v1/capabilities', { headers })
      return status === 503 && { retryAfter: told['retry-after'], body: JSON.parse(body) as unknown }
    })
    const { retryable, publicCode } = { publicCode: 'service_unavailable', ...errorCatalogue.service_unavailable }
    expect(answer.retryAfter).to.equal('1')
    expect(answer.body).to.have.nested.property('error.code', publicCode)
    expect(answer.body).to.have.nested.property('error.retryable', retryable)
    await service.untilReady()
  })
})
