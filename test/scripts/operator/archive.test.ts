import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { MonthSnapshot } from '../../../archive/months.js'
import type { Payment } from '../../../machines/model.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { partitionOfPayment, paymentKeyOf } from '../../../redis/keys.js'
import { removePayments } from '../../../redis/payments/archive-moves.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { writeExport } from '../../../scripts/operator/archive-export.js'
import { checkSample } from '../../../scripts/operator/doctor/archive-sample.js'
import { createdAt, usePostgresArchive } from '../../support/archived-payments.js'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useOperatorArchive } from '../../support/operator-archive.js'
import { MERCHANT, references } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { storePayment } from '../../support/stored-payments.js'

const MONTH_MS = Date.UTC(2020, 2, 1)
const NEXT_MONTH_MS = Date.UTC(2020, 3, 1)

describe('operator archive', () => {
  const { run, oldest, newFile, servers, archived } = useOperatorArchive()
  const put = async (...times: number[]): Promise<Payment[]> => {
    const payments = times.map(atMs => createdAt(atMs, { terms: { metadata: { text: 'ção "quoted" \\ \n 💳' } } }))
    await archived.archive.put(payments)
    return payments
  }

  it('shows each month', async () => {
    const [, newer] = await put(MONTH_MS + 1, NEXT_MONTH_MS - 1, NEXT_MONTH_MS)
    await archived.archive.takeBack(newer?.terms.id ?? '')
    const [march, april] = (await run(['status', '--json'])).json() as Record<string, unknown>[]
    expect(march).to.include({
      month: '2020-03',
      payments: 2,
      oldest: '2020-03-01T00:00:00.001Z',
      newest: '2020-03-31T23:59:59.999Z',
      back_in_redis: 1,
      exported_at: null,
      droppable_from: null
    })
    expect(march?.['bytes']).to.be.within(8_192, 1_000_000)
    expect(april).to.include({ month: '2020-04', payments: 1, back_in_redis: 0 })
    expect((await run(['status'], { ARCHIVE_RETENTION_YEARS: '5' })).out).to.match(
      /^2020-03 +2 +\d+ +1 +- +- +2025-04-01T00:00:00.000Z +false +-$/m
    )
  })

  it('exports a month into a file that only its owner reads, and shows a change since', async () => {
    const payments = await put(MONTH_MS, MONTH_MS + 1, NEXT_MONTH_MS)
    const file = newFile()
    const { code, out, err } = await run(['export', '2020-03', '--file', file])
    expect(code, err).to.equal(0)
    const content = await readFile(file, 'utf8')
    const rows = content
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { id: string; record: string; money_moves: unknown })
    expect(rows.map(({ id }) => id)).to.deep.equal(payments.slice(0, 2).map(({ terms }) => terms.id))
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    const sha256 = createHash('sha256').update(content).digest('hex')
    expect(out).to.contain('2 payments').and.to.contain(sha256)

    expect(await oldest()).to.include({ sha256, is_unchanged: true })
    await archived.archive.takeBack(payments[0]?.terms.id ?? '')
    expect(await oldest()).to.include({ sha256, is_unchanged: false })
    const audit = await operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, ['audit', '2020-03', '--json'])
    expect((audit.json() as unknown[]).at(-1)).to.include({ verb: 'archive export', detail: sha256, outcome: 'done' })
  })

  it('exports more than a page, in the order of ids, and shows its progress', async () => {
    const payments = await put(...Array.from({ length: 501 }, (_, index) => MONTH_MS + index))
    const lines: string[] = []
    const file = newFile()
    const terminal = (line: string): unknown => lines.push(line)
    await run(['export', '2020-03', '--file', file], {}, { terminal })
    const ids = (await readFile(file, 'utf8')).match(/"id":"[^"]+"/g)
    expect(ids).to.deep.equal(payments.map(({ terms }) => `"id":"${terms.id}"`))
    expect(lines.join('\n')).to.match(/ 99 %, 500 payments exported\n.* 100 %, 501 payments exported\n/)
    expect(await oldest()).to.include({ is_unchanged: true })
  })

  it('replaces no file, and leaves none for a month without payments', async () => {
    await put(MONTH_MS)
    const file = newFile()
    await writeFile(file, 'mine')
    expect((await run(['export', '2020-03', '--file', file])).err).to.contain('exists already')
    const other = newFile()
    await writeFile(`${other}.part`, 'of another export')
    expect((await run(['export', '2020-03', '--file', other])).err).to.contain('another export writes it')
    expect(await readFile(file, 'utf8')).to.equal('mine')
    expect(await readFile(`${other}.part`, 'utf8')).to.equal('of another export')
    const { code, err } = await run(['export', '2019-01', '--file', newFile()])
    expect([code, err]).to.deep.equal([1, 'error: The archive has no payments of 2019-01. Nothing was exported.\n'])
    expect((await run(['export', '2020-13', '--file', newFile()])).code).to.equal(2)
    expect(await archived.postgres.ask('SELECT FROM exports')).to.deep.equal([])
  })
})

describe('file of an export', () => {
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'archive-file-'))
  })
  after(() => rm(dir, { recursive: true, force: true }))

  it('has its name only when it is complete, and is removed when the archive fails', async () => {
    const file = join(dir, 'half')
    let lose: (reason: Error) => void = () => undefined
    const lost = new Promise<never>((_, reject) => {
      lose = reject
    })
    const snapshot: MonthSnapshot = {
      payments: 2,
      async *pages() {
        yield { lines: ['{}'], fingerprint: 1n }
        await lost
      }
    }
    let written = 0
    const writing = writeExport(file, snapshot, count => {
      written = count
    }).catch(String)
    await until('half of it is written', async () => written === 1)
    expect(await readFile(`${file}.part`, 'utf8')).to.equal('{}\n')
    const stateOf = (name: string): Promise<unknown> => stat(name).catch(({ code }: NodeJS.ErrnoException) => code)
    expect(await stateOf(file)).to.equal('ENOENT')
    lose(new Error('connection lost'))
    expect(await writing).to.equal('Error: connection lost')
    expect([await stateOf(file), await stateOf(`${file}.part`)]).to.deep.equal(['ENOENT', 'ENOENT'])
  })
})

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
    const examine = async () =>
      await checkSample(archived.postgres.url, servers.redis, { partitions: 16, archiveTimeoutMs: 5_000 })
    await archived.archive.put([payment])
    await removePayments(unreplicated(servers.redis), partition, [payment])
    expect(await examine()).to.include({ state: 'ok', found: '1 that left Redis are there, or were dropped' })

    await archived.postgres.ask('DELETE FROM payments')
    const lost = await examine()
    expect(lost).to.include({ state: 'problem' })
    expect(lost.found).to.contain(`1 of 1 payments that left Redis are not in the archive: ${id}`)
    const operated = (...args: string[]) =>
      operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url, ARCHIVE_URL: archived.postgres.url }, args)
    const show = () => operated('payment', 'show', id)
    expect((await show()).err).to.contain('it lacks payments that left Redis for it')

    const dropped = `INSERT INTO exports (month, payments, fingerprint, sha256, dropped_at) VALUES ('2026-03-01', 1, 0, '', now())`
    await archived.postgres.ask(dropped)
    expect(await examine()).to.include({ state: 'ok' })
    expect((await show()).err).to.contain('There is no payment')
    await archived.postgres.ask('DELETE FROM exports')

    const accept = () => operated('archive', 'accept-loss', '--yes', '--reason', 'no backup')
    expect((await accept()).out).to.contain(`404 from now on. The newest: ${id}`)
    expect(await examine()).to.include({ state: 'ok' })
    expect((await show()).err).to.contain('There is no payment')
    expect((await accept()).err).to.contain('Nothing was changed')
  })
})
