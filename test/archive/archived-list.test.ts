import { expect } from 'chai'
import { listStatement } from '../../archive/postgres-archive.js'
import type { Payment } from '../../machines/model.js'
import { aListQuery, createdAt, usePostgresArchive } from '../support/archived-payments.js'
import { DAY_MS } from '../support/payments.js'

const START_MS = Date.UTC(2026, 0, 1)

describe('list of archived payments', () => {
  const test = usePostgresArchive()
  const idsOf = (payments: readonly Payment[]): string[] => payments.map(({ terms }) => terms.id)
  const listed = async (changes: Parameters<typeof aListQuery>[0]): Promise<string[]> =>
    idsOf((await test.archive.list(aListQuery(changes))).payments)

  it('lists the newest first across months, and continues where the previous page ended', async () => {
    const payments = Array.from({ length: 7 }, (_, at) => createdAt(START_MS + at * 20 * DAY_MS))
    await test.archive.put(payments)
    const pages: string[][] = []
    let afterId: string | null = null
    do {
      const page = await test.archive.list(aListQuery({ limit: 3, afterId }))
      pages.push(idsOf(page.payments))
      afterId = page.nextAfterId
    } while (afterId !== null)
    expect(pages.map(page => page.length)).to.deep.equal([3, 3, 1])
    expect(pages.flat()).to.deep.equal(idsOf(payments).reverse())
  })

  it('ends with the last payment when it fills the page', async () => {
    await test.archive.put([createdAt(START_MS), createdAt(START_MS)])
    expect(await test.archive.list(aListQuery({ limit: 2 }))).to.have.property('nextAfterId', null)
  })

  it('does not ask for older months when the client has gone', async () => {
    const gone = new Error('gone')
    const list = test.archive.list(aListQuery(), AbortSignal.abort(gone)).catch((error: unknown) => error)
    expect(await list).to.equal(gone)
  })

  it('has the payments of one merchant, status, order id and time', async () => {
    const captured = createdAt(START_MS, { progress: { status: 'captured' } })
    const ordered = createdAt(START_MS + DAY_MS, { terms: { externalReference: 'other' } })
    const foreign = createdAt(START_MS, { terms: { merchantId: 'm_0000000002' } })
    await test.archive.put([captured, ordered, foreign])
    expect(await listed({})).to.deep.equal(idsOf([ordered, captured]))
    expect(await listed({ status: 'captured' })).to.deep.equal(idsOf([captured]))
    expect(await listed({ externalReference: 'other' })).to.deep.equal(idsOf([ordered]))
    expect(await listed({ externalReference: 'other', status: 'captured' })).to.deep.equal([])
    expect(await listed({ merchantId: 'm_0000000002' })).to.deep.equal(idsOf([foreign]))
    expect(await listed({ createdFromMs: START_MS + 1 })).to.deep.equal(idsOf([ordered]))
    expect(await listed({ createdToMs: START_MS + DAY_MS })).to.deep.equal(idsOf([captured]))
    expect(await listed({ createdToMs: START_MS + DAY_MS, afterId: captured.terms.id })).to.deep.equal([])
  })

  it('has short pages of payments that are full of metadata, like the list of Redis', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key_${at}`, 'x'.repeat(500)]))
    const payments = Array.from({ length: 8 }, (_, at) => createdAt(START_MS + at, { terms: { metadata } }))
    await test.archive.put(payments)
    const first = await test.archive.list(aListQuery())
    expect(first.payments).to.have.length(6)
    expect(await listed({ afterId: first.nextAfterId })).to.deep.equal(idsOf(payments).reverse().slice(6))
  })

  it('has no gaps and doubles where it asks for older months, also when long records shorten a page', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key_${at}`, 'x'.repeat(500)]))
    const payments = Array.from({ length: 24 }, (_, at) =>
      createdAt(START_MS + at * 7 * DAY_MS, at % 3 === 0 ? {} : { terms: { metadata } })
    )
    await test.archive.put(payments)
    for (const limit of [1, 2, 5, 6, 30]) {
      const seen: string[] = []
      let query = aListQuery({ limit, createdToMs: START_MS + 24 * 7 * DAY_MS })
      for (;;) {
        const page = await test.archive.list(query)
        expect(page.payments, `limit ${limit}`).to.have.length.within(1, limit)
        seen.push(...idsOf(page.payments))
        if (page.nextAfterId === null) break
        query = { ...query, afterId: page.nextAfterId }
      }
      expect(seen, `limit ${limit}`).to.deep.equal(idsOf(payments).reverse())
    }
  })

  it('reads the newest months first, and no more of them than a page needs', async () => {
    const months = Array.from({ length: 6 }, (_, month) => Date.UTC(2026, month, 2))
    const many = months.flatMap(atMs => Array.from({ length: 1_000 }, (_, at) => createdAt(atMs + at)))
    await test.archive.put(many)
    await test.postgres.ask('ANALYZE payments')
    const { text, values } = listStatement(aListQuery())
    const plan = await test.postgres.ask(`EXPLAIN (ANALYZE, COSTS off, TIMING off) ${text}`, values)
    const lines = plan.map(line => String(line['QUERY PLAN']))
    expect(lines.filter(line => line.includes('Seq Scan'))).to.deep.equal([])
    expect(lines.find(line => /payments_2026_06/.test(line))).to.contain('rows=11')
    expect(lines.find(line => /payments_2026_05/.test(line))).to.contain('never executed')
  })
})
