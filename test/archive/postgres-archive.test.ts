import { expect } from 'chai'
import {
  aListQuery,
  archiveAt,
  createdAt,
  statementsWaiting,
  usePostgresArchive
} from '../support/archived-payments.js'
import { until } from '../support/conditions.js'
import { references } from '../support/payments.js'

describe('postgres archive', () => {
  const test = usePostgresArchive()

  it('returns a payment as it was stored', async () => {
    const payment = createdAt(Date.UTC(2026, 0, 31), {
      terms: { metadata: { text: 'ção "quoted" \u0000 \\ 💳' } },
      progress: { status: 'captured', references, capturedCents: 1_000 }
    })
    await test.archive.put([payment])
    expect(await test.archive.find(payment.terms.id)).to.deep.equal(payment)
    expect(await test.archive.findBySale(references.saleId ?? '')).to.equal(payment.terms.id)
  })

  it('takes text that PostgreSQL does not take', async () => {
    const payment = createdAt(Date.UTC(2026, 0, 31), {
      terms: { externalReference: 'half a character \ud83d' },
      progress: { references: { ...references, tid: 'zero \u0000' } }
    })
    await test.archive.put([payment])
    expect(await test.archive.find(payment.terms.id)).to.deep.equal(payment)
    const listed = await test.archive.list(aListQuery({ externalReference: payment.terms.externalReference }))
    expect(listed.payments).to.deep.equal([payment])
  })

  it('keeps a newer version, and replaces an older one', async () => {
    const old = createdAt(Date.UTC(2026, 1, 1))
    const newer = { ...old, version: 2, progress: { ...old.progress, status: 'captured' as const } }
    for (const version of [old, newer, old]) await test.archive.put([version])
    expect(await test.archive.find(old.terms.id)).to.deep.equal(newer)
    const listed = await test.archive.list(aListQuery({ status: 'captured' }))
    expect(listed).to.deep.equal({ payments: [newer], nextAfterId: null })
  })

  it('gives way to a payment of restored data, whose version is lower, when it changed hours later', async () => {
    const created = createdAt(Date.UTC(2026, 1, 1))
    const at = (version: number, afterMs: number): typeof created => {
      const line = { event: 'APPROVED', status: 'captured', phase: null, detail: null, times: 1 } as const
      return { ...created, version, history: [{ ...line, atMs: created.terms.createdAtMs + afterMs }] }
    }
    const found = async (): Promise<number | undefined> => (await test.archive.find(created.terms.id))?.version
    await test.archive.put([at(9, 0)])
    await test.archive.put([at(6, 3_600_000)])
    expect(await found(), 'clocks may be apart').to.equal(9)
    await test.archive.put([at(6, 3_600_001)])
    expect(await found()).to.equal(6)
  })

  it('notes that a payment went back to Redis until it is put again', async () => {
    const payment = createdAt(Date.UTC(2026, 2, 1))
    const returned = async (): Promise<unknown[]> =>
      (await test.postgres.ask('SELECT returned_at IS NOT NULL AS it FROM payments')).map(({ it }) => it)
    await test.archive.put([payment])
    expect(await test.archive.takeBack(payment.terms.id)).to.deep.equal(payment)
    expect(await returned()).to.deep.equal([true])
    await test.archive.put([payment])
    expect(await returned()).to.deep.equal([false])
  })

  it('returns the newest version, also one that is being written', async () => {
    const old = createdAt(Date.UTC(2026, 2, 1))
    const newer = { ...old, version: 2 }
    await test.archive.put([newer])
    const [row] = await test.postgres.ask('SELECT record FROM payments')
    await test.postgres.ask('DELETE FROM payments')
    await test.archive.put([old])
    await test.postgres.ask('BEGIN')
    await test.postgres.ask('UPDATE payments SET record = $1', [row?.['record']])
    const taken = test.archive.takeBack(old.terms.id)
    await until('it waits for the lock', async () => (await statementsWaiting(test.postgres.url)) > 0)
    await test.postgres.ask('COMMIT')
    expect(await taken).to.deep.equal(newer)
  })

  it('makes a partition for each month', async () => {
    const times = [Date.UTC(2025, 11, 31, 23, 59, 59, 999), Date.UTC(2026, 0, 1), Date.UTC(2031, 5, 30)]
    await Promise.all(times.map(atMs => test.archive.put([createdAt(atMs), createdAt(times[0] ?? 0)])))
    const rows = await test.postgres.ask('SELECT DISTINCT tableoid::regclass::text AS name FROM payments ORDER BY 1')
    expect(rows.map(({ name }) => name)).to.deep.equal(['payments_2025_12', 'payments_2026_01', 'payments_2031_06'])
  })

  it('makes a partition while others read', async () => {
    await test.archive.put([createdAt(Date.UTC(2026, 0, 1))])
    await test.postgres.ask('BEGIN')
    await test.postgres.ask('SELECT count(*) FROM payments')
    await test.archive.put([createdAt(Date.UTC(2040, 0, 1))])
    await test.postgres.ask('COMMIT')
  })

  it('waits for the disk in each write, also where the server does not by default', async () => {
    await test.postgres.ask(
      `ALTER DATABASE ${new URL(test.postgres.url).pathname.slice(1)} SET synchronous_commit TO off`
    )
    await test.postgres.ask('CREATE TABLE seen (setting text)')
    await test.postgres.ask(
      `CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`
    )
    await test.postgres.ask(
      'CREATE TRIGGER seen AFTER INSERT OR UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION see()'
    )
    const archive = archiveAt(test.postgres.url)
    const payment = createdAt(Date.UTC(2026, 0, 1))
    await archive.put([payment])
    await archive.put([payment])
    await archive.takeBack(payment.terms.id)
    await archive.close()
    expect(await test.postgres.ask('SELECT * FROM seen')).to.deep.equal(Array(3).fill({ setting: 'on' }))
  })
})
