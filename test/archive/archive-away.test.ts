import { expect } from 'chai'
import { ArchiveUnavailable } from '../../archive/archive.js'
import { freePort } from '../../scripts/start/ports.js'
import { archiveAt, createdAt, statementsWaiting, usePostgresArchive } from '../support/archived-payments.js'
import { until, untilFast } from '../support/conditions.js'

const TIMEOUT_MS = 300
/** For calls that fail before any timeout. */
const PATIENT_MS = 60_000

describe('an archive that is away', () => {
  const test = usePostgresArchive()
  const payment = createdAt(Date.UTC(2026, 0, 1))

  /** What a call to the archive at an address rejects with. */
  const failure = async (url: string): Promise<unknown> => {
    const archive = archiveAt(url, PATIENT_MS)
    const error = await archive.takeBack(payment.terms.id).catch((reason: unknown) => reason)
    await archive.close()
    return error
  }
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(test.postgres.url)
    change(url)
    return url.href
  }

  it('differs from a payment that does not exist, and gives the reason', async () => {
    const port = await freePort()
    const reasons: readonly (readonly [string, string])[] = [
      [changed(url => Object.assign(url, { port })), 'ECONNREFUSED'],
      [changed(url => Object.assign(url, { port, hostname: 'localhost' })), 'ECONNREFUSED'],
      [changed(url => Object.assign(url, { password: 'wrong' })), 'password authentication failed'],
      [changed(url => Object.assign(url, { pathname: '/nothing' })), 'database "nothing" does not exist'],
      [changed(url => Object.assign(url, { pathname: '/postgres' })), 'Start the process archive, which updates them']
    ]
    for (const [url, reason] of reasons) {
      const error = await failure(url)
      expect(error).to.be.instanceOf(ArchiveUnavailable)
      expect(String(error)).to.contain(reason)
    }
  })

  it('fails after the deadline when it is slow, leaves no statement behind, and works again at once', async () => {
    await test.archive.put([payment])
    const archive = archiveAt(test.postgres.url, TIMEOUT_MS)
    await test.postgres.ask('BEGIN')
    await test.postgres.ask('SELECT FROM payments FOR UPDATE')
    const call = (): Promise<unknown> => archive.takeBack(payment.terms.id).catch((error: unknown) => error)
    const errors = await untilFast('five calls fail', 4 * TIMEOUT_MS, () =>
      Promise.all(Array.from({ length: 5 }, call))
    )
    for (const error of errors) expect(error).to.be.instanceOf(ArchiveUnavailable)
    await until('no statement is left', async () => (await statementsWaiting(test.postgres.url)) === 0)
    await test.postgres.ask('COMMIT')
    const found = await until('it is read', () => archive.find(payment.terms.id).catch(() => undefined))
    expect(found).to.deep.equal(payment)
    await archive.close()
  })

  it('survives that its connections are cut', async () => {
    await test.archive.put([payment])
    await test.postgres.ask(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    )
    const found = await until('it is read', () => test.archive.find(payment.terms.id).catch(() => undefined))
    expect(found).to.deep.equal(payment)
  })
})
