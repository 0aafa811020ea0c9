import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, withRedis } from '../../support/merchant.js'
import { ServiceUnderTest, startService } from '../../support/service.js'

describe('a backup (docs/OPERATIONS.md)', function () {
  this.timeout(40_000)
  const services: ServiceUnderTest[] = []
  after(() => Promise.all(services.map(service => service.stop())))

  it('is a copy of the files while everything runs, and comes back with payments, cards and keys', async () => {
    const first = await startService({ env: { LOG_LEVEL: 'error' } })
    services.push(first)
    const merchant = new Merchant(() => first)
    const [paid, held] = [await merchant.create(), await merchant.create({ capture: false })]
    const copy = await backUp(first)
    await first.stop()

    const second = new ServiceUnderTest(copy, { env: { LOG_LEVEL: 'error' } })
    services.push(second)
    await second.start()
    const restored = new Merchant(() => second)
    expect(await restored.read(paid.payment.id)).to.deep.include({ status: 'captured', captured_cents: 10_000 })
    expect((await restored.read(held.payment.id)).status).to.equal('pre_authorized')
    expect((await restored.create()).status, 'the keys of before still open and pay').to.equal(201)
  })

  it('is older than the network’s records, and catches up when the network reports its sales', async () => {
    const first = await startService({ env: { LOG_LEVEL: 'error' } })
    services.push(first)
    const merchant = new Merchant(() => first)
    const [refunded, captured] = [await merchant.create(), await merchant.create({ capture: false })]
    const copy = await backUp(first)
    await merchant.cancel(refunded.payment.id, { amount: 2_500 })
    await merchant.capture(captured.payment.id)
    const forgotten = await merchant.create()
    await cp(join(first.dataDir, 'network-ledger.jsonl'), join(copy, 'network-ledger.jsonl'))
    await first.stop()

    const second = new ServiceUnderTest(copy, { env: { LOG_LEVEL: 'error' } })
    services.push(second)
    await second.start()
    const sales = await (await fetch(`${second.networkUrl}/simulator/sales`)).text()
    for (const [, saleId] of sales.matchAll(/"payment_id":"([^"]+)"/g)) {
      await fetch(`${second.addresses('notifications')[0]}/notifications`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Notification-Secret': 'simulator-notification-secret' },
        body: JSON.stringify({ PaymentId: saleId, ChangeType: 1 })
      })
    }
    await new Merchant(() => second).settled(captured.payment.id, 'captured')
    await until('the refund is listed', async () => {
      const { out } = await asOperator(second, 'payment', 'attention')
      return out.includes(refunded.payment.id) && out.includes('figures_differ')
    })
    await until('the sale without a payment is named', () => second.logs().includes(forgotten.payment.id))
  })
})

/** Copies what docs/OPERATIONS.md names, while the service runs. Returns the folder. */
async function backUp(service: ServiceUnderTest): Promise<string> {
  await withRedis(service, redis => redis.call('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0'))
  const copy = await mkdtemp(join(tmpdir(), 'payments-backup-'))
  for (const part of ['redis', 'vault', 'demo.json']) {
    await cp(join(service.dataDir, part), join(copy, part), { recursive: true })
  }
  return copy
}
