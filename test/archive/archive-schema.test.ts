import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { migrate } from '../../archive/migrate.js'
import { createdAt, usePostgresArchive } from '../support/archived-payments.js'
import { DAY_MS, MERCHANT, references } from '../support/payments.js'

const CREATED_MS = Date.UTC(2026, 0, 1, 12)

describe('schema of the archive', () => {
  const test = usePostgresArchive()
  const refunded = createdAt(CREATED_MS, {
    progress: {
      status: 'partially_refunded',
      references,
      capturedCents: 1_000,
      refundedCents: 300,
      capturedAtMs: CREATED_MS + 1,
      refunds: [
        {
          amountCents: 300,
          state: 'succeeded',
          idempotencyKey: 'refund-1',
          requestedAtMs: CREATED_MS + 2,
          concludedAtMs: CREATED_MS + DAY_MS,
          error: null
        }
      ]
    }
  })

  it('is made once, also by several processes at once', async () => {
    await test.postgres.ask('DROP TABLE payments, exports, schema_migrations CASCADE')
    await test.postgres.ask('DROP FUNCTION first_payment_id, add_months_of')
    const ran = await Promise.all([1, 2, 3].map(() => migrate(test.postgres.url, 10_000)))
    expect(ran.flat()).to.deep.equal(['0001-payments.sql', '0002-exports.sql', '0003-exports-for-writers.sql'])
    expect(await migrate(test.postgres.url, 10_000)).to.deep.equal([])
  })

  it('is brought up to date beside its payments', async () => {
    await test.archive.put([createdAt(CREATED_MS)])
    await test.postgres.ask(`DROP TABLE exports; DELETE FROM schema_migrations WHERE name >= '0002'`)
    expect(await migrate(test.postgres.url, 10_000)).to.deep.equal(['0002-exports.sql', '0003-exports-for-writers.sql'])
    expect(await test.postgres.ask('SELECT FROM payments')).to.have.length(1)
  })

  it('is the one in docs/ARCHIVE.md', async () => {
    const rows = await test.postgres.ask(
      `SELECT relname, attname FROM pg_attribute
       JOIN pg_class ON pg_class.oid = attrelid
       WHERE relname IN ('payments', 'exports', 'report_daily', 'report_settlement') AND attnum > 0
       ORDER BY array_position('{payments,report_daily,report_settlement,exports}', relname::text), attnum`
    )
    const page = readFileSync('docs/ARCHIVE.md', 'utf8')
    const documented = page.split(/^### /m).flatMap(section => {
      const [, name] = /^`(\w+)`/.exec(section) ?? []
      const words = new Set([...section.matchAll(/`(\w+)`/g)].map(([, word]) => word))
      return rows.filter(({ relname, attname }) => relname === name && words.has(String(attname)))
    })
    expect(documented).to.deep.equal(rows)
  })

  it('has sums by day, and each movement of money', async () => {
    await test.archive.put([refunded, createdAt(CREATED_MS)])
    await test.archive.takeBack(refunded.terms.id)
    const days = await test.postgres.ask('SELECT *, day::text FROM report_daily ORDER BY status')
    const day = { day: '2026-01-01', merchant_id: MERCHANT, brand: 'visa', count: '1' }
    expect(days).to.deep.equal([
      { ...day, status: 'partially_refunded', ...cents(1_000, 1_000, 300), returned_count: '1' },
      { ...day, status: 'pending', ...cents(1_000, 0, 0), returned_count: '0' }
    ])
    const moves = await test.postgres.ask(
      'SELECT type, occurred_at, amount_cents, idempotency_key, nsu FROM report_settlement ORDER BY occurred_at'
    )
    expect(moves).to.deep.equal([
      {
        type: 'capture',
        occurred_at: new Date(CREATED_MS + 1),
        amount_cents: '1000',
        idempotency_key: null,
        nsu: '123456'
      },
      {
        type: 'refund',
        occurred_at: new Date(CREATED_MS + DAY_MS),
        amount_cents: '300',
        idempotency_key: 'refund-1',
        nsu: '123456'
      }
    ])
  })
})

describe('views of the archive', () => {
  const test = usePostgresArchive()

  it('look only at the payments of the days that are asked for', async () => {
    await test.archive.put([createdAt(CREATED_MS)])
    await test.postgres.ask('SET enable_seqscan TO off')
    for (const where of [
      `report_daily WHERE day = '2026-01-01'`,
      `report_settlement WHERE created_on < '2026-01-01'`
    ]) {
      const plan = await test.postgres.ask(`EXPLAIN SELECT * FROM ${where}`)
      expect(plan.filter(line => String(line['QUERY PLAN']).includes('Bitmap Index Scan'))).to.have.length(1)
    }
  })
})

describe('roles of the archive', () => {
  const test = usePostgresArchive()
  const as = async (role: string, statement: string): Promise<unknown> => {
    await test.postgres.ask(`SET ROLE ${role}`)
    const answer = await test.postgres.ask(statement).catch((error: Error) => error.message)
    await test.postgres.ask('RESET ROLE')
    return answer
  }

  it('let finance read all but the names of buyers, and write nothing', async () => {
    await test.archive.put([createdAt(CREATED_MS)])
    expect(await as('archive_reader', 'SELECT merchant_id FROM payments')).to.deep.equal([{ merchant_id: MERCHANT }])
    expect(await as('archive_reader', 'SELECT count(*) FROM report_daily')).to.deep.equal([{ count: '1' }])
    expect(await as('archive_reader', 'SELECT count(*) FROM report_settlement')).to.deep.equal([{ count: '0' }])
    expect(await as('archive_reader', 'SELECT * FROM exports')).to.deep.equal([])
    for (const statement of ['SELECT record FROM payments', 'DELETE FROM payments', `SELECT add_months_of('{}')`]) {
      expect(await as('archive_reader', statement)).to.match(/^permission denied/)
    }
  })

  it('let other processes write payments, also of new months, and nothing else', async () => {
    expect(await as('archive_writer', `SELECT add_months_of('{019b0000-0000-7000-8000-000000000000}')`)).to.have.length(
      1
    )
    expect(await as('archive_writer', 'UPDATE payments SET version = 1')).to.deep.equal([])
    expect(await as('archive_writer', 'DROP TABLE payments')).to.match(/^must be owner/)
    expect(await as('archive_writer', 'SELECT * FROM exports')).to.deep.equal([])
    expect(await as('archive_writer', 'DELETE FROM exports')).to.match(/^permission denied/)
  })
})

function cents(amount: number, captured: number, refunded: number): Record<string, string> {
  return { amount_cents: String(amount), captured_cents: String(captured), refunded_cents: String(refunded) }
}
