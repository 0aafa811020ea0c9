import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Merchant, withRedis } from '../../support/merchant.js'
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
    await withRedis(first, redis => redis.call('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0'))
    const copy = await mkdtemp(join(tmpdir(), 'payments-backup-'))
    for (const part of ['redis', 'vault', 'demo.json']) {
      await cp(join(first.dataDir, part), join(copy, part), { recursive: true })
    }
    await first.stop()

    const second = new ServiceUnderTest(copy, { env: { LOG_LEVEL: 'error' } })
    services.push(second)
    await second.start()
    const restored = new Merchant(() => second)
    expect(await restored.read(paid.payment.id)).to.deep.include({ status: 'captured', captured_cents: 10_000 })
    expect((await restored.read(held.payment.id)).status).to.equal('pre_authorized')
    expect((await restored.create()).status, 'the keys of before still open and pay').to.equal(201)
  })
})
