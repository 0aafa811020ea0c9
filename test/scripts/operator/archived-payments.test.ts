import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { partitionOfPayment, paymentKeyOf } from '../../../redis/keys.js'
import { removePayments } from '../../../redis/payments/payment-moves.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { checkSample } from '../../../scripts/operator/doctor/archive-sample.js'
import { usePostgresArchive } from '../../support/archived-payments.js'
import { operate } from '../../support/operator.js'
import { MERCHANT, references } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { storePayment } from '../../support/stored-payments.js'

describe('operator with an archive', () => {
  const servers = useRedis()
  const archived = usePostgresArchive()
  beforeEach(() => servers.redis.flushdb())

  it('shows, finds and counts an archived payment, and reports an unavailable archive', async () => {
    const run = (archiveUrl: string, ...args: string[]) =>
      operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url, ARCHIVE_URL: archiveUrl }, args)
    const made = (await run('', 'merchant', 'create', 'Loja', '--json')).json() as { merchant_id: string }
    const id = await storePayment(servers.redis, made.merchant_id, Date.parse('2026-01-31T12:00:00Z'), {
      terms: { externalReference: 'order-7' },
      progress: {
        status: 'captured',
        capturedCents: 1_000,
        capturedAtMs: Date.parse('2026-01-31T12:00:01Z'),
        references
      }
    })
    const payment = await createPaymentStore(unreplicated(servers.redis)).load(partitionOfPayment(id), paymentKeyOf(id))
    if (payment === null) throw new Error('it was stored')
    await archived.archive.put([payment])
    await removePayments(unreplicated(servers.redis), partitionOfPayment(id), [payment])

    expect((await run('', 'payment', 'show', id)).err).to.contain('is not set in this process')
    expect((await run(archived.postgres.url, 'payment', 'show', id)).out).to.contain(id)
    expect((await run(archived.postgres.url, 'payment', 'search', 'order-7')).out).to.contain(id)
    const days = ['--from', '2026-01-31', '--to', '2026-01-31']
    expect((await run(archived.postgres.url, 'report', 'settlement', ...days)).out).to.contain(id)
    expect((await run('postgres://127.0.0.1:1/archive', 'payment', 'show', id)).err).to.contain('ECONNREFUSED')
  })

  it('samples in doctor whether payments that left Redis are in the archive', async () => {
    const atMs = Date.parse('2026-03-31T12:00:00Z')
    const id = await storePayment(servers.redis, MERCHANT, atMs, { progress: { status: 'captured' } })
    const partition = partitionOfPayment(id)
    const payment = await createPaymentStore(unreplicated(servers.redis)).load(partition, paymentKeyOf(id))
    if (payment === null) throw new Error('it was stored')
    const examine = async (months: readonly string[]) =>
      await checkSample(archived.postgres.url, servers.redis, { partitions: 16, archiveTimeoutMs: 5_000 }, months)
    await archived.archive.put([payment])
    await removePayments(unreplicated(servers.redis), partition, [payment])
    expect(await examine(['2026-03'])).to.include({ state: 'ok', found: '1 that left Redis are there' })

    await archived.postgres.ask('DELETE FROM payments')
    const lost = await examine(['2026-03'])
    expect(lost).to.include({ state: 'problem' })
    expect(lost.found).to.contain(`1 of 1 payments that left Redis are not in the archive: ${id}`)
    // Its month was dropped.
    expect(await examine([])).to.include({ state: 'ok' })
  })
})
