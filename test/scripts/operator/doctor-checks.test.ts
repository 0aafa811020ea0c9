import { expect } from 'chai'
import type { ArchiveFacts } from '../../../archive/facts.js'
import { judgeArchive } from '../../../scripts/operator/doctor/archive-checks.js'
import { encryptionFinding } from '../../../scripts/operator/doctor/certificates.js'
import { checkLimit, checkUsers } from '../../../scripts/operator/doctor/durable-checks.js'
import { type Finding, problem } from '../../../scripts/operator/doctor/finding.js'
import { checkProcesses, checkSupport, checkVersions } from '../../../scripts/operator/doctor/process-checks.js'
import type { SeenProcess } from '../../../scripts/operator/processes.js'
import { useRedis } from '../../support/redis.js'

describe('the memory of a Redis, for operator doctor', () => {
  const test = useRedis()
  afterEach(() => test.redis.config('SET', 'maxmemory', '0'))

  it('has a limit in live, below the memory of its machine', async () => {
    const [finding] = await checkLimit(test.redis, 'REDIS_URL', { environment: 'live' })
    expect(finding).to.include({ check: 'memory of REDIS_URL', state: 'warning' })
    expect(finding?.found).to.match(/^maxmemory of .*:\d+ is 0: the kernel kills/)
    expect(finding?.mend).to.contain('CONFIG SET maxmemory')
    expect((await checkLimit(test.redis, 'REDIS_URL', { environment: 'test' }))[0]?.state).to.equal('ok')
    await test.redis.config('SET', 'maxmemory', '1gb')
    expect((await checkLimit(test.redis, 'REDIS_URL', { environment: 'live' }))[0]?.state).to.equal('ok')
  })
})

describe('the users of a Redis, for operator doctor', () => {
  const test = useRedis()

  it('must all have a password in live', async () => {
    const found = async (environment: 'live' | 'test'): Promise<string> =>
      (await checkUsers(test.redis, 'REDIS_URL', { environment }))
        .map(finding => `${finding.state}: ${finding.found}`)
        .join()
    expect(await found('live')).to.contain('problem: A client without a password may read and write.')
    expect(await found('test')).not.to.contain('without a password')
  })
})

describe('the versions that operator doctor compares', () => {
  it('include its own', () => {
    const metrics = `card_payments_build_info{process="api",version="9.9.9",node="${process.version}"} 1\n`
    const seen = [{ name: 'api at a', process: 'api', problems: {}, warnings: {}, facts: {}, metrics }]
    const found = checkVersions(seen, '^20.19').filter(({ check }) => check === 'versions')
    expect(found.map(({ state, found: text }) => `${state}: ${text}`).join()).to.match(
      /^warning: Not all are of one release: \S+ \(this command\), 9\.9\.9 \(api at a\)\.$/
    )
  })
})

describe('what operator doctor warns of in live alone', () => {
  const live = { environment: 'live' } as const
  const test = { environment: 'test' } as const

  it('is a Redis on another machine without TLS, and the password is not shown', () => {
    for (const url of ['redis://u:hidden@10.0.0.1:6379', 'redis-sentinel://u:hidden@localhost:1,other:2/name']) {
      const [finding] = encryptionFinding(url, 'REDIS_URL', live)
      expect(finding).to.include({ check: 'TLS of REDIS_URL', state: 'warning' })
      expect(finding?.found)
        .to.match(/is not encrypted/)
        .and.not.to.contain('hidden')
      expect(finding?.mend).to.contain('rediss://')
      expect(encryptionFinding(url, 'REDIS_URL', test)).to.deep.equal([])
    }
    for (const url of ['redis://localhost:1', 'redis://[::1]:1', 'rediss://other:1', 'rediss-cluster://a:1,b:2'])
      expect(encryptionFinding(url, 'REDIS_URL', live)[0]?.state, url).to.equal('ok')
  })

  it('is a Node without security fixes', () => {
    const on = (node: string) => [
      {
        ...{ name: 'api at a', process: 'api', problems: {}, warnings: {}, facts: {} },
        metrics: `card_payments_build_info{process="api",version="1.0.0",node="${node}"} 1\n`
      }
    ]
    const [finding] = checkSupport(on('v20.20.2'), live)
    expect(finding).to.include({ check: 'support of Node', state: 'warning' })
    expect(finding?.found).to.equal('api at a runs on v20.20.2, without security fixes since 2026-04-30.')
    expect(checkSupport(on('v24.1.0'), live)[0]?.state).to.equal('ok')
    expect(checkSupport(on('v20.20.2'), test)).to.deep.equal([])
  })
})

const NEEDED = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']

function seen(process: string, facts: Readonly<Record<string, string>> = {}): SeenProcess {
  return { name: `${process} at a`, process, problems: {}, warnings: {}, facts, metrics: '' }
}

describe('the processes that operator doctor looks for', () => {
  const told = (processes: readonly SeenProcess[], known: readonly Finding[] = []): string[] =>
    checkProcesses(processes, true, known).map(({ state, found }) => `${state}: ${found}`)

  it('are all but the archive, which is optional', () => {
    expect(told(NEEDED.map(name => seen(name)))).to.deep.equal(['ok: 6 ready'])
    expect(told(NEEDED.slice(1).map(name => seen(name)))).to.deep.equal(['problem: No `api` answers.'])
  })

  it('include the archive where one process has it; then api and payments need it too', () => {
    const archived = { archive: 'PostgreSQL' }
    const all = [...NEEDED.map(name => seen(name, name === 'payments' ? archived : {})), seen('api', archived)]
    expect(told(all)).to.deep.equal([
      'problem: No `archive` answers.',
      'problem: api at a has no ARCHIVE_URL, and other processes have: it does not find archived payments.'
    ])
  })

  it('do not repeat what doctor has found by itself', () => {
    const away = { 'durable redis': "can't be asked", clock: 'is late' }
    const processes = NEEDED.map(name => ({ ...seen(name), ...(name === 'api' ? { problems: away } : {}) }))
    expect(told(processes)).to.deep.equal(["problem: api at a: can't be asked", 'problem: api at a: is late'])
    const known = [problem('durable redis', 'could not be used', 'Start it.')]
    expect(told(processes, known)).to.deep.equal(['problem: api at a: is late'])
  })

  it('are named together where several say the same', () => {
    const replicas = { replicas: 'Fewer than 1 replicas.' }
    const processes = NEEDED.map(name => ({ ...seen(name), ...(name.endsWith('s') ? { warnings: replicas } : {}) }))
    expect(told(processes)).to.deep.equal([
      'warning: tokens at a, notifications at a, payments at a, timers at a, webhooks at a: Fewer than 1 replicas.'
    ])
  })
})

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
    isReadOnly: false,
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
    expect(judge({ isReadOnly: true }).join()).to.match(/^problem: durability of the archive: .* no writes/)
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
