import { expect } from 'chai'
import type { ArchiveFacts } from '../../../archive/facts.js'
import { judgeArchive } from '../../../scripts/operator/doctor/archive-checks.js'

const NOW_MS = Date.UTC(2026, 0, 1)
const VERIFIED = 'postgres://payments@db.example/archive?sslmode=verify-full'

describe('operator doctor: the checks of the archive', () => {
  const facts: ArchiveFacts = {
    user: 'payments',
    serverVersion: 140_000,
    fsync: 'on',
    fullPageWrites: 'on',
    synchronousCommit: 'on',
    isStandby: false,
    isSuperuser: false,
    isEncrypted: true,
    bytes: 8_000_000,
    missingMigrations: [],
    userLacks: [],
    writerLacks: [],
    months: ['2020-12'],
    isOwner: true
  }
  /** What is not well: state, check and sentence. */
  const judge = (change: Partial<ArchiveFacts>, url = VERIFIED, years = 0): string[] =>
    judgeArchive({ ...facts, ...change }, url, { environment: 'live', archiveRetentionYears: years }, NOW_MS)
      .filter(({ state }) => state !== 'ok')
      .map(({ state, check, found }) => `${state}: ${check}: ${found}`)

  it('find no fault in a well configured archive', () => {
    expect(judge({})).to.deep.equal([])
  })

  it('require a verified TLS connection in live, unless the server is on this machine', () => {
    expect(judge({ isEncrypted: false }).join()).to.match(/^problem: TLS of the archive: .* not encrypted/)
    for (const mode of ['', '?sslmode=require', '?sslmode=no-verify']) {
      const url = `postgres://payments@db.example/archive${mode}`
      expect(judge({}, url).join()).to.match(/^problem: TLS of the archive: .* does not ask for sslmode=verify-full/)
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(judge({ isEncrypted: false }, `postgres://payments@${host}/archive`)).to.deep.equal([])
    }
  })

  it('require a primary of a supported version', () => {
    expect(judge({ serverVersion: 130_011 }).join()).to.match(/^problem: version of the archive: .* PostgreSQL 13/)
    expect(judge({ isStandby: true }).join()).to.match(/^problem: durability of the archive: .* standby/)
  })

  it('name up to five months that are past their retention, by the time of the service', () => {
    expect(judge({}, VERIFIED, 6)).to.deep.equal([])
    expect(judge({}, VERIFIED, 5).join()).to.contain('Older than 5 years: 2020-12.')
    const months = Array.from({ length: 7 }, (_, index) => `2010-0${index + 1}`)
    expect(judge({ months }, VERIFIED, 5).join()).to.contain('2010-05 and 2 more.')
  })

  it('are "not checked" where the user lacks the permission', () => {
    expect(judge({ missingMigrations: null }).join()).to.match(/^not checked: tables of the archive/)
  })
})
