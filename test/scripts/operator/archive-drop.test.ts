import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Client } from 'pg'
import { withArchive } from '../../../archive/payment-store.js'
import type { Payment } from '../../../machines/model.js'
import { advanceClock, resetClock } from '../../../redis/connection/redis-clock.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { paymentKeyOf } from '../../../redis/keys.js'
import { removePayments } from '../../../redis/payments/archive-moves.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { obtainPostgres } from '../../../scripts/start/postgres-binary.js'
import { archiveAt, createdAt, statementsWaiting } from '../../support/archived-payments.js'
import { until } from '../../support/conditions.js'
import { storePayment } from '../../support/listed-payments.js'
import { useOperatorArchive } from '../../support/operator-archive.js'
import { DAY_MS, PARTITION, references } from '../../support/payments.js'

const MONTH_MS = Date.UTC(2020, 2, 1)
const NEXT_MONTH_MS = Date.UTC(2020, 3, 1)
const FIVE_YEARS = { ARCHIVE_RETENTION_YEARS: '5' }

describe('operator archive drop', () => {
  const { run, oldest, newFile, servers, archived } = useOperatorArchive()
  const drop = (env: NodeJS.ProcessEnv = FIVE_YEARS, month = '2020-03') => run(['drop', month, '--yes'], env)
  const put = async (...times: number[]): Promise<Payment[]> => {
    const payments = times.map(atMs =>
      createdAt(atMs, { progress: { references: { ...references, saleId: `s${atMs}` } } })
    )
    await archived.archive.put(payments)
    return payments
  }
  const rows = (): Promise<unknown[]> => archived.postgres.ask('SELECT FROM payments')
  const exported = async (): Promise<void> => {
    expect((await run(['export', '2020-03', '--file', newFile()])).code).to.equal(0)
  }
  beforeEach(() => servers.redis.flushdb())

  it('removes an exported month: its payments are not found, and reports have all others', async () => {
    const [gone] = await put(MONTH_MS, NEXT_MONTH_MS - 1, NEXT_MONTH_MS)
    await exported()
    const { code, out, err } = await drop()
    expect(code, err).to.equal(0)
    expect(out).to.match(/^Dropped 2020-03: 2 payments, which the export with SHA-256 [0-9a-f]{64} has\.$/m)
    expect(await archived.archive.find(gone?.terms.id ?? '')).to.equal(null)
    expect(await archived.archive.takeBack(gone?.terms.id ?? '')).to.equal(null)
    // For a chargeback notice this is a sale of another system.
    expect(await archived.archive.findBySale(`s${MONTH_MS}`)).to.equal(null)
    const days = await archived.postgres.ask('SELECT day::text, count FROM report_daily')
    expect(days).to.deep.equal([{ day: '2020-04-01', count: '1' }])
    expect(await archived.postgres.ask('SELECT FROM report_settlement')).to.deep.equal([])
    expect(await oldest()).to.include({ month: '2020-03', payments: 0, is_droppable: false })
    expect((await run(['status'])).out).to.match(/^2020-03 +0 +0 .* \d{4}-\d\d-\d\dT\S+$/m)
  })

  it('asks for confirmation, and refuses a month without payments', async () => {
    await put(MONTH_MS)
    await exported()
    expect((await run(['drop', '2020-03'], FIVE_YEARS)).code).to.equal(2)
    const { code, err } = await drop(FIVE_YEARS, '2019-01')
    expect([code, err]).to.deep.equal([1, 'error: The archive has no payments of 2019-01. Nothing was dropped.\n'])
    expect(await rows()).to.have.length(1)
  })

  it('refuses a month that was never exported or has changed since', async () => {
    const [payment] = await put(MONTH_MS)
    expect((await drop()).err).to.contain('was never exported')
    await exported()
    const changes = [() => archived.archive.takeBack(payment?.terms.id ?? ''), () => put(MONTH_MS + 1)]
    for (const change of changes) {
      await change()
      const { code, err } = await drop()
      expect(code).to.equal(1)
      expect(err).to.contain('has changed since its export')
      await exported()
    }
    await archived.postgres.ask('UPDATE payments SET record = record')
    expect((await drop()).code).to.equal(0)
  })

  it('uses the time of the service', async () => {
    const lastMonthMs = new Date().setUTCDate(1) - DAY_MS
    const month = new Date(lastMonthMs).toISOString().slice(0, 7)
    await put(lastMonthMs)
    await run(['export', month, '--file', newFile()])
    expect((await drop({}, month)).err).to.contain('ARCHIVE_RETENTION_YEARS is 0')
    const years = { ARCHIVE_RETENTION_YEARS: '1' }
    // On every day of the year the first sum is too early, and the second one late enough.
    const [before, after] = [[328], [329, 38]].map(days => days.map(count => count * DAY_MS))
    for (const byMs of before ?? []) await advanceClock(servers.redis, byMs)
    expect((await drop(years, month)).err).to.match(/may be dropped from \d{4}-\d\d-01 /)
    await resetClock(servers.redis)
    for (const byMs of after ?? []) await advanceClock(servers.redis, byMs)
    expect((await drop(years, month)).code).to.equal(0)
  })

  it('loses no payment that is back in Redis, which moves into the archive again', async () => {
    const { redis } = servers
    const store = withArchive(createPaymentStore(unreplicated(redis)), archived.archive, {
      writes: unreplicated(redis)
    })
    const id = (await storePayment(redis, { atMs: MONTH_MS, status: 'captured' })).terms.id
    const load = (): Promise<Payment | null> => store.load(PARTITION, paymentKeyOf(id))
    const payment = await load()
    if (payment === null) throw new Error('it was stored')
    const moveOut = async (): Promise<void> => {
      await archived.archive.put([payment])
      expect(await removePayments(unreplicated(redis), PARTITION, [payment])).to.equal(1)
    }
    await moveOut()
    expect(await store.loadForChange(PARTITION, paymentKeyOf(id))).to.deep.equal(payment)
    await exported()
    expect((await drop()).code).to.equal(0)
    expect(await rows()).to.deep.equal([])
    expect(await load()).to.deep.equal(payment)
    await moveOut()
    expect(await load()).to.deep.equal(payment)
    expect(await rows()).to.have.length(1)
    expect((await drop()).err).to.contain('has changed since its export')
    await exported()
    expect((await drop()).code).to.equal(0)
    expect(await load()).to.equal(null)
  })
})

describe('operator archive drop beside other clients', () => {
  const { run, oldest, newFile, archived } = useOperatorArchive()

  it('gives up after two seconds behind a reader, changes nothing, and works afterwards', async () => {
    const payment = createdAt(MONTH_MS)
    await archived.archive.put([payment])
    await run(['export', '2020-03', '--file', newFile()])
    await archived.postgres.ask('BEGIN')
    await archived.postgres.ask('SELECT count(*) FROM payments')
    const startedMs = Date.now()
    const { code, err } = await run(['drop', '2020-03', '--yes'], FIVE_YEARS)
    await archived.postgres.ask('COMMIT')
    expect(Date.now() - startedMs).to.be.at.least(1_900)
    expect(code).to.equal(1)
    expect(err).to.contain('other statements use this month. Nothing was changed')
    expect(await oldest()).to.include({ payments: 1, dropped_at: null })
    expect((await run(['drop', '2020-03', '--yes'], FIVE_YEARS)).code).to.equal(0)
  })

  it('refuses a month in which a payment is written meanwhile', async () => {
    await archived.archive.put([createdAt(MONTH_MS)])
    await run(['export', '2020-03', '--file', newFile()])
    const writer = new Client({ connectionString: archived.postgres.url })
    await writer.connect()
    await writer.query('BEGIN')
    await writer.query('UPDATE payments SET returned_at = now()')
    const dropping = run(['drop', '2020-03', '--yes'], FIVE_YEARS)
    await until('it waits for the lock', async () => (await statementsWaiting(archived.postgres.url)) > 0)
    await writer.query('COMMIT')
    await writer.end()
    expect((await dropping).err).to.contain('has changed since its export')
    expect(await oldest()).to.include({ payments: 1, back_in_redis: 1 })
  })

  it('needs the owner of the tables', async () => {
    await archived.archive.put([createdAt(MONTH_MS)])
    await run(['export', '2020-03', '--file', newFile()])
    await archived.postgres.ask(`CREATE ROLE drop_writer LOGIN PASSWORD 'secret' IN ROLE archive_writer`)
    const url = new URL(archived.postgres.url)
    Object.assign(url, { username: 'drop_writer', password: 'secret' })
    try {
      for (const args of [
        ['drop', '2020-03', '--yes'],
        ['export', '2020-03', '--file', newFile()]
      ]) {
        const { code, err } = await run(args, { ...FIVE_YEARS, ARCHIVE_URL: url.href })
        expect(code).to.equal(1)
        expect(err).to.match(/permission denied .*\. This needs the owner of the tables/)
      }
    } finally {
      await archived.postgres.ask('DROP ROLE drop_writer')
    }
    expect(await oldest()).to.include({ payments: 1 })
  })
})

describe('commands of docs/ARCHIVE.md', () => {
  const { oldest, newFile, servers, archived } = useOperatorArchive()

  it('export, drop and restore a month', async () => {
    const payments = [1, DAY_MS].map(afterMs =>
      createdAt(Date.UTC(2024, 2, 1) + afterMs, {
        terms: {
          metadata: { text: 'ção "quoted" \\n \\\\ \n \u0000 💳' },
          externalReference: `a\\b,"c"\t${afterMs}`
        },
        progress: {
          status: 'captured',
          references: { ...references, saleId: `s${afterMs}` },
          capturedCents: 1_000,
          capturedAtMs: Date.UTC(2024, 2, 1) + afterMs
        }
      })
    )
    await archived.archive.put(payments)
    const days = (): Promise<unknown[]> => archived.postgres.ask('SELECT *, day::text FROM report_daily ORDER BY 1')
    const before = await days()

    const [, section = ''] = /### Retention\n(.*?)\n### /s.exec(readFileSync('docs/ARCHIVE.md', 'utf8')) ?? []
    const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands)
    expect(blocks).to.have.length(2)
    const script = blocks.join('').replaceAll('/backup/payments-2024-03.ndjson', newFile())
    const { folder, libraryPath } = await obtainPostgres(resolve('.vendor'), () => undefined)
    const operator = `operator() { ${process.execPath} dist/scripts/operator/operator.js "$@"; }\n`
    const { stdout } = await promisify(execFile)('bash', ['-euc', operator + script], {
      env: {
        PATH: `${folder}:${process.env['PATH']}`,
        LD_LIBRARY_PATH: libraryPath,
        SERVICE_ENV: 'test',
        REDIS_URL: servers.url,
        ARCHIVE_URL: archived.postgres.url,
        ARCHIVE_RETENTION_YEARS: '1'
      }
    })
    expect(stdout).to.match(/^2024-03 +2 +\d+ .* 2025-04-01T00:00:00.000Z +false +-$/m)
    expect(stdout).to.match(/^Dropped 2024-03: 2 payments/m)
    const [, sha256 = 'none'] = /SHA-256 (\w+) has/.exec(stdout) ?? []
    expect(stdout).to.contain(`${sha256}  `)
    expect(stdout.trimEnd()).to.match(/INSERT 0 2\nCOMMIT$/)

    const reader = archiveAt(archived.postgres.url)
    for (const payment of payments) expect(await reader.find(payment.terms.id)).to.deep.equal(payment)
    await reader.close()
    expect(await days()).to.deep.equal(before)
    expect(await oldest()).to.include({ payments: 2, is_unchanged: true })
  })
})
