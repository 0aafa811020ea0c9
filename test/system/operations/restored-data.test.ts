/** Data that came back older than what was done (docs/OPERATIONS.md, Redis): nothing is sold, refunded or voided twice. */
import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { orderIdOf } from '../../../machines/network.js'
import { readSales, type SaleLine } from '../../../scripts/simulator/ledger.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, withRedis } from '../../support/merchant.js'
import { ServiceUnderTest, startService } from '../../support/service.js'

const ENV = {
  LOG_LEVEL: 'error',
  NOT_FOUND_HORIZON_MS: '5000',
  NETWORK_CONNECT_TIMEOUT_MS: '1000',
  NETWORK_AUTHORISE_TIMEOUT_MS: '3000',
  NETWORK_TIMEOUT_MS: '3000',
  RECONCILE_DELAYS_MS: '150,250,400',
  HEARTBEAT_MS: '500',
  TAKEOVER_AFTER_MS: '10000'
}

describe('data that came back older', () => {
  const { services, start } = useServices()

  it('is a backup with commands that wait, restored on a new host: what was done is adopted', async () => {
    await restoreWithWaiting({ AUTHORISE_WITHIN_MS: '900000' })
  })

  it('is such a backup that is restored when the time to authorise is over: nothing fails by its age', async () => {
    await restoreWithWaiting({ AUTHORISE_WITHIN_MS: '3000' })
  })

  async function restoreWithWaiting(env: Record<string, string>): Promise<void> {
    const first = await start(env)
    const merchant = new Merchant(() => first)
    const [paid, held, later] = [
      await idOf(merchant.create()),
      await idOf(merchant.create({ capture: false })),
      await idOf(merchant.create())
    ]
    first.kill('payments', 'SIGSTOP')
    const created = await idOf(merchant.create({ waitS: 0 }))
    await merchant.cancel(paid, { amount: 3_000, waitS: 0 })
    await merchant.capture(held, { amount: 6_000, waitS: 0 })
    const copy = await backUp(first)
    first.kill('payments', 'SIGCONT')
    await merchant.settled(created, 'captured')
    await merchant.settled(paid, 'partially_refunded')
    await merchant.settled(held, 'captured')
    const key = randomUUID()
    await merchant.cancel(later, { amount: 2_000, key })
    await cp(join(first.dataDir, 'network-ledger.jsonl'), join(copy, 'network-ledger.jsonl'))
    await first.stop()

    const second = new ServiceUnderTest(copy, { env: { ...ENV, ...env } })
    services.push(second)
    await second.start()
    const restored = new Merchant(() => second)
    expect(await standingOf(second)).to.equal('unvouched')
    expect((await second.ops('payments.1', '/readyz')).text).to.include('Nothing vouches for the data')
    expect((await restored.create()).status, 'new payments go on').to.equal(201)

    expect((await restored.settled(created, 'captured')).captured_cents).to.equal(10_000)
    expect((await restored.settled(held, 'captured')).captured_cents).to.equal(6_000)
    expect((await restored.settled(paid, 'partially_refunded')).refunded_cents).to.equal(3_000)
    const repeated = await restored.cancel(later, { amount: 2_000, key })
    expect(repeated.status, JSON.stringify(repeated.payment)).to.be.oneOf([200, 202])
    expect((await restored.settled(later, 'partially_refunded')).refunded_cents).to.equal(2_000)
    await until('its open payments are compared', async () => (await standingOf(second)) === 'vouched')
    for (const [id, captured, voided, capture, voids] of [
      [created, 10_000, 0, 0, 0],
      [held, 6_000, 0, 1, 0],
      [paid, 10_000, 3_000, 0, 1],
      [later, 10_000, 2_000, 0, 1]
    ] as const) {
      expect(await inLedger(second, id)).to.deep.equal({ captured, voided, authorise: 1, capture, void: voids })
    }
  }
})

describe('data that came back older beside what is remembered', () => {
  const { start } = useServices()

  it('is a file that lost its end while processes run: money waits for an operator, and refunds are not repeated', async () => {
    const service = await start()
    const merchant = new Merchant(() => service)
    const ids = [await idOf(merchant.create()), await idOf(merchant.create()), await idOf(merchant.create())]
    const { file, bytes } = await writtenBy(service)
    const keyOf = (id: string): string => `refund of ${id}`
    for (const id of ids) await merchant.cancel(id, { amount: 100, key: keyOf(id) })
    // A stopped server does not write, and its supervisor starts it again on what is left.
    service.kill('redis', 'SIGSTOP')
    await truncate(file, bytes)
    service.kill('redis')

    const [first = ''] = ids
    await until('money waits', async () =>
      (await asOperator(service, 'installation', 'show')).out.includes('9 commits')
    )
    const refused = await until('the request is refused', async () => {
      const answer = await merchant.cancel(first, { amount: 100, key: keyOf(first) })
      return answer.status === 503 && 'message' in answer.error && String(answer.error.message).includes('operator')
        ? answer
        : undefined
    })
    expect(refused.error).to.deep.include({ code: 'service_unavailable', retryable: true })
    expect((await merchant.create()).status).to.equal(503)
    expect((await merchant.read(first)).refunded_cents, 'reads are answered').to.equal(0)
    for (const [process, expected] of [
      ['api.1', 200],
      ['payments.1', 503]
    ] as const) {
      const { status, text } = await service.ops(process, '/readyz')
      expect([status, text.includes('older than what was acknowledged')]).to.deep.equal([expected, true])
    }

    const accepted = await asOperator(service, 'installation', 'accept-restored', '--yes')
    expect(accepted.code, accepted.err).to.equal(0)
    await until('requests are taken', async () => (await merchant.create()).status === 201)
    await Promise.all(ids.map(id => merchant.cancel(id, { amount: 100, key: keyOf(id) })))
    for (const id of ids) {
      expect((await merchant.settled(id, 'partially_refunded')).refunded_cents).to.equal(100)
      expect(await inLedger(service, id)).to.deep.include({ voided: 100, void: 1 })
    }
    await until('its open payments are compared', async () => (await standingOf(service)) === 'vouched')
    expect((await asOperator(service, 'installation', 'accept-restored', '--yes')).err).to.include('nothing to accept')
  })

  it('is noticed at a start, too, through the files of the host', async () => {
    const service = await start()
    const merchant = new Merchant(() => service)
    await merchant.create()
    const copy = await backUp(service)
    const id = await idOf(merchant.create())
    const paidMs = Date.now()
    await until('the host remembers it', async () => (await rememberedMs(service)) > paidMs)
    await service.restart()
    expect(await standingOf(service), 'a normal restart').to.equal('vouched')
    expect((await new Merchant(() => service).read(id)).status).to.equal('captured')
    await service.restart(() =>
      cp(join(copy, 'redis'), join(service.dataDir, 'redis'), { recursive: true, force: true })
    )
    await rm(copy, { recursive: true })
    await until('it is noticed', async () => (await standingOf(service)) === 'went_back')
    expect((await new Merchant(() => service).create()).status).to.equal(503)
  })

  it('is not what all processes and both servers find that are killed at once under load', async () => {
    const service = await start()
    const merchant = new Merchant(() => service)
    const paid: string[] = []
    let isOver = false
    const pay = async (): Promise<void> => {
      while (!isOver) {
        const [key, token] = [randomUUID(), await merchant.token().catch(() => '')]
        if (token === '') continue
        const answer = await until('it is answered', async () => {
          const given = await merchant.create({ key, token }).catch(() => undefined)
          return given !== undefined && given.status < 500 ? given : undefined
        })
        if (answer.payment.id !== undefined) paid.push(answer.payment.id)
      }
    }
    const load = Promise.all([pay(), pay(), pay()])
    await until('there is load', () => paid.length > 20)
    const names = ['payments', 'api', 'tokens', 'timers', 'webhooks', 'notifications', 'redis', 'secrets-redis']
    for (const name of names) service.kill(name)
    await service.untilReady()
    await until('it goes on', () => paid.length > 60)
    isOver = true
    await load
    expect(await standingOf(service)).to.be.oneOf(['vouched', 'unvouched'])
    for (const id of paid) {
      await merchant.settled(id)
      expect((await inLedger(service, id)).authorise).to.be.oneOf([0, 1])
    }
  })
})

/** Until when the processes of a host watched its data, by their files. */
async function rememberedMs({ dataDir }: ServiceUnderTest): Promise<number> {
  const folder = join(dataDir, 'seen')
  // A draft has no such name, and may be half written.
  const names = (await readdir(folder)).filter(name => name.endsWith('.json'))
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8').catch(() => '{}')))
  return Math.max(...texts.map(text => (JSON.parse(text) as { atMs?: number }).atMs ?? 0))
}

/** Services that a test starts, and that end with it. */
function useServices(): {
  services: ServiceUnderTest[]
  start(env?: Record<string, string>): Promise<ServiceUnderTest>
} {
  const services: ServiceUnderTest[] = []
  afterEach(() => Promise.all(services.splice(0).map(service => service.stop())))
  return {
    services,
    start: async (env = {}) => {
      const service = await startService({ env: { ...ENV, ...env } })
      services.push(service)
      return service
    }
  }
}

async function idOf(
  answer: Promise<{ readonly status: number; readonly payment: { readonly id: string } }>
): Promise<string> {
  const { status, payment } = await answer
  expect(status, JSON.stringify(payment)).to.be.oneOf([200, 201, 202])
  return payment.id
}

async function standingOf(service: ServiceUnderTest): Promise<string> {
  return (await asOperator(service, 'installation', 'show', '--json')).json().standing
}

/** What the card network has of a payment. */
async function inLedger(service: ServiceUnderTest, id: string): Promise<Record<string, number>> {
  const sales = (await readSales(service.networkUrl)).filter(sale => sale.merchant_order_id === orderIdOf(id))
  const sum = (pick: (sale: SaleLine) => number): number => sales.reduce((all, sale) => all + pick(sale), 0)
  return {
    captured: sum(sale => sale.captured_amount),
    voided: sum(sale => sale.voided_amount),
    authorise: sum(sale => sale.requests.authorise),
    capture: sum(sale => sale.requests.capture),
    void: sum(sale => sale.requests.void)
  }
}

/** Copies what docs/OPERATIONS.md names, while the service runs. Returns the folder. */
async function backUp(service: ServiceUnderTest): Promise<string> {
  await withRedis(service, redis => redis.call('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0'))
  const copy = await mkdtemp(join(tmpdir(), 'payments-backup-'))
  for (const part of ['redis', 'vault', 'demo.json']) {
    await cp(join(service.dataDir, part), join(copy, part), { recursive: true })
  }
  return copy
}

/** The append-only file of the durable Redis, and how long it is. */
async function writtenBy(service: ServiceUnderTest): Promise<{ file: string; bytes: number }> {
  const folder = join(service.dataDir, 'redis', 'appendonlydir')
  const file = join(folder, (await readdir(folder)).find(name => name.endsWith('.incr.aof')) ?? '')
  return { file, bytes: (await stat(file)).size }
}
