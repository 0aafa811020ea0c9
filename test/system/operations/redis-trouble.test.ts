import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { type FinalAnswer, postSurely } from '../../support/failover-client.js'
import { Merchant, orderOf, withRedis } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** Said once each time that a connection, or the way to the commands, is lost. */
const ONCE_A_LOSS = new Set(['redis connection lost, reconnecting', 'commands could not be read'])

const HORIZON_MS = 75_000

describe('when the durable Redis is in trouble', function () {
  this.timeout(3 * HORIZON_MS)
  let service: ServiceUnderTest
  const merchant = new Merchant(() => service)
  before(async () => {
    service = await startService({
      env: { LOG_LEVEL: 'warn', RECONCILE_DELAYS_MS: '200,400', NOT_FOUND_HORIZON_MS: String(HORIZON_MS) }
    })
  })
  after(() => service?.stop())

  /** `count` buyers, one every 25 ms, each repeated under its key until it is answered; `trouble` begins with the fifth. */
  const payThrough = async (count: number, trouble: () => Promise<unknown>): Promise<FinalAnswer[]> => {
    const tokens = await Promise.all(Array.from({ length: count }, () => merchant.token()))
    const answers: Promise<FinalAnswer>[] = []
    let troubled: Promise<unknown> = Promise.resolve()
    for (const [index, token] of tokens.entries()) {
      if (index === 5) troubled = trouble()
      const body = { ...orderOf({}), payment_source: { source_type: 'token', token_id: token } }
      answers.push(postSurely([service.baseUrl], { path: '/v1/payments', apiKey: service.apiKey, body }))
      await delay(25)
    }
    await troubled
    return await Promise.all(answers)
  }
  /**
   * Every payment is at its end, and the network was charged once for each. One that was marked as begun and never sent
   * fails when the horizon is over: Redis was killed between the two.
   */
  const expectAllRight = async (answers: readonly FinalAnswer[]): Promise<void> => {
    expect(new Set(answers.map(({ payment }) => payment.id)).size).to.equal(answers.length)
    let unsent = 0
    for (const { payment } of answers) {
      const settled = await merchant.settled(payment.id, undefined, 1.5 * HORIZON_MS)
      const sales = await salesOf(service, payment.id)
      if (settled.status === 'failed' && sales.length === 0 && ++unsent < answers.length / 8) continue
      expect(sales.length, payment.id).to.equal(1)
      expect([settled.status, settled.captured_cents], payment.id).to.deep.equal([
        'captured',
        sales[0]?.captured_amount
      ])
    }
  }
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

  it('killed in the middle of traffic: it comes back with all that was accepted', async () => {
    await expectAllRight(await payThrough(40, async () => service.kill('redis', 'SIGKILL')))
    await service.untilReady()
  })

  it('silent for two seconds, as with a slow disk: all requests wait, none fails', async () => {
    const answers = await payThrough(30, async () => {
      service.kill('redis', 'SIGSTOP')
      await delay(2_000)
      service.kill('redis', 'SIGCONT')
    })
    expect(answers.flatMap(({ statuses }) => statuses).filter(status => status >= 500)).to.deep.equal([])
    await expectAllRight(answers)
  })

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
    await expectAllRight(
      await payThrough(30, async () => {
        await admin('CONFIG', 'SET', 'maxmemory', '1')
        await delay(400)
        await admin('CONFIG', 'SET', 'maxmemory', '0')
      })
    )
  })

  it('read-only, as a replica after a failover: 503, and all is well as soon as it is a master', async () => {
    await admin('REPLICAOF', '127.0.0.1', '1')
    try {
      await refused()
    } finally {
      await admin('REPLICAOF', 'NO', 'ONE')
    }
    await expectAllRight(
      await payThrough(30, async () => {
        await admin('REPLICAOF', '127.0.0.1', '1')
        await delay(400)
        await admin('REPLICAOF', 'NO', 'ONE')
      })
    )
  })

  it('less durable than promised: /readyz says so, and why', async () => {
    await admin('CONFIG', 'SET', 'appendfsync', 'no')
    const { status, text } = await service.ops('api.1', '/readyz')
    await admin('CONFIG', 'SET', 'appendfsync', 'always')
    expect(status).to.equal(503)
    expect(text).to.contain('appendfsync is no, must be always')
    expect((await service.ops('api.1', '/readyz')).status).to.equal(200)
  })

  it('less durable while it runs: money stops within 2 s, and goes on when it is durable again', async () => {
    const held = await merchant.create({ capture: false })
    for (const [setting, weak, durable] of [
      ['appendonly', 'no', 'yes'],
      ['appendfsync', 'everysec', 'always']
    ] as const) {
      await admin('CONFIG', 'SET', setting, weak)
      const sinceMs = performance.now()
      try {
        await until('requests are refused', async () => (await merchant.create({ waitS: 0 })).status === 503)
        // Two seconds, and the pauses of a busy machine.
        expect(performance.now() - sinceMs, setting).to.be.below(4_000)
        expect((await merchant.capture(held.payment.id)).status).to.equal(503)
        expect((await merchant.read(held.payment.id)).status).to.equal('pre_authorized')
      } finally {
        await admin('CONFIG', 'SET', setting, durable)
      }
      await until('requests are taken', async () => (await merchant.create()).status === 201)
    }
    expect((await merchant.capture(held.payment.id)).payment.status).to.equal('captured')
  })

  it('is logged at most every 5 s by each process', () => {
    const warnings = warningsIn(service.logs())
    const sentences = ['timers: a round failed and is repeated', 'api: the store is unavailable']
    expect(warnings).to.include.keys('payments: heartbeat failed', 'webhooks: heartbeat failed', ...sentences)
    for (const [sentence, timesMs] of warnings) {
      if (ONCE_A_LOSS.has(sentence.replace(/^\w+: /, ''))) continue
      const gapsMs = timesMs.slice(1).map((timeMs, index) => timeMs - (timesMs[index] ?? 0))
      expect(Math.min(...gapsMs), sentence).to.be.above(4_000)
    }
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
    // Before that, the key was remembered, and the body is not complete.
    expect(answers.slice(0, -1).filter(([status]) => status !== 400)).to.deep.equal([])
    expect(answers.at(-1)).to.deep.equal([503, 'service_unavailable'])
    for (const name of names) {
      const ready = await service.ops(`${name}.1`, '/readyz')
      expect(ready.status, name).to.equal(503)
      expect(ready.text, name).to.match(/The Redis of REDIS_URL is empty.* bring that data back/)
    }
    expect(names.flatMap(name => service.pids(name))).to.deep.equal(pids)
  })
})

/** When each warning was given, by its process and sentence. One instance of each process runs. */
function warningsIn(text: string): Map<string, number[]> {
  const warnings = new Map<string, number[]>()
  for (const [json] of text.matchAll(/\{"level":"warn".*\}/g)) {
    const { process, msg, time }: { process: string; msg: string; time: string } = JSON.parse(json)
    const sentence = `${process}: ${msg}`
    warnings.set(sentence, [...(warnings.get(sentence) ?? []), Date.parse(time)])
  }
  return warnings
}

async function salesOf(service: ServiceUnderTest, paymentId: string): Promise<{ captured_amount: number }[]> {
  const text = await (await fetch(`${service.networkUrl}/simulator/sales`)).text()
  const sales = text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as { merchant_order_id: string; captured_amount: number })
  return sales.filter(sale => sale.merchant_order_id === paymentId.replaceAll('-', ''))
}
