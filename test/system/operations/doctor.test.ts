/** `operator doctor` on a service that is well, and on one thing after the other that is not. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createLogger } from '../../../runtime/log.js'
import { certificateFinding } from '../../../scripts/operator/doctor/certificates.js'
import { operate } from '../../support/operator.js'
import { usePostgres } from '../../support/postgres.js'
import { makeRedisUsers, urlAs } from '../../support/redis-users.js'
import { useService } from '../../support/service.js'
import type { Place } from './doctor-fault.js'
import { faults, network, users } from './doctor-faults.js'

interface Finding {
  readonly check: string
  readonly state: string
  readonly found: string
  readonly mend: string | null
}

describe('operator doctor', () => {
  const service = useService()
  const postgres = usePostgres()
  const log = createLogger('test', 'silent')
  let durable: Redis
  let memoryOnly: Redis
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'doctor-'))
    durable = await connect(service().redisUrl, 'commands', log)
    memoryOnly = await connect(service().secretsRedisUrl, 'commands', log)
  })
  after(async () => {
    await Promise.all([durable, memoryOnly].map(disconnect))
    await rm(dir, { recursive: true, force: true })
  })

  const run = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
    operate({ DATA_DIR: service().dataDir, ...env }, ['doctor', ...args])
  const examine = async (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) => {
    const { code, err, json } = await run([...args, '--json'], env)
    return { code, err, findings: (json() as { findings: Finding[] }).findings }
  }
  const place = (): Place => ({ service: service(), durable, memoryOnly, postgres, dir })

  it('finds no problem in a running npm start, and lists what is not checked', async () => {
    const { code, out, err } = await run()
    expect(err).to.equal('')
    expect(out).to.contain(' 0 problems, 0 warnings, ')
    expect(code).to.equal(0)
    for (const line of [
      /^ok +version of Node +v\d+/m,
      /^ok +environment +test, installation .*16 partitions$/m,
      /^ok +durability /m,
      /^ok +memory-only redis /m,
      /^ok +vault keys +\S+ in \d processes$/m,
      /^ok +webhook keys /m,
      /^ok +processes +\d+ ready$/m,
      /^not checked +card network .*\n +-> Give the NETWORK_ settings/m
    ]) {
      expect(out).to.match(line)
    }
  })

  it('finds no problem in an archive', async () => {
    const { code, out } = await run([], { ARCHIVE_URL: postgres.url, ARCHIVE_RETENTION_YEARS: '5' })
    expect(out).to.contain(' 0 problems, 0 warnings, ')
    expect(code).to.equal(0)
    for (const line of [
      /^ok +archive +answers as payments, \d+ MB in its database$/m,
      /^ok +version of the archive +PostgreSQL \d\d$/m,
      /^ok +durability of the archive /m,
      /^ok +tables of the archive +those of this version$/m,
      /^ok +rights in the archive +owner of the tables$/m,
      /^ok +retention of the archive +no month is older than 5 years$/m
    ]) {
      expect(out).to.match(line)
    }
  })

  it('accepts the users of the ACL files, and the card network when it is given its credentials', async () => {
    const { undo } = await users(durable, 'operator', 'on')
    const secretUsers = await makeRedisUsers(memoryOnly, 'memory-only')
    try {
      const { findings } = await examine([], network(place(), {}).env)
      for (const check of ['users of REDIS_URL', 'users of SECRETS_REDIS_URL']) {
        const [found, ...more] = findings.filter(finding => finding.check === check && finding.state !== 'not checked')
        expect(found, JSON.stringify(findings)).to.include({ state: 'ok' })
        expect(more).to.deep.equal([])
      }
      expect(findings.find(({ check }) => check === 'card network')).to.include({ state: 'ok' })
    } finally {
      await Promise.all([undo?.(), memoryOnly.acl('DELUSER', ...secretUsers)])
    }
  })

  it('reads settings as the user doctor, who is named by --logins; without it they are not checked', async () => {
    const made = await makeRedisUsers(durable, 'durable')
    const secretsMade = await makeRedisUsers(memoryOnly, 'memory-only')
    const { redisUrl, secretsRedisUrl } = service()
    const as = { REDIS_URL: urlAs('operator', redisUrl), SECRETS_REDIS_URL: urlAs('operator', secretsRedisUrl) }
    const stateOf = async (args: readonly string[], name: string) =>
      (await examine(args, as)).findings.find(({ check }) => check === name)?.state
    try {
      for (const name of ['durability', 'memory-only redis']) expect(await stateOf([], name)).to.equal('not checked')
      await writeFile(join(dir, 'redis_url'), `${urlAs('doctor', redisUrl)}\n`)
      await writeFile(join(dir, 'secrets_redis_url'), `${urlAs('doctor', secretsRedisUrl)}\n`)
      const logins = ['--logins', dir]
      for (const name of ['durability', 'memory-only redis']) expect(await stateOf(logins, name)).to.equal('ok')
      await Promise.all([durable.config('SET', 'appendfsync', 'everysec'), memoryOnly.config('SET', 'save', '3600 1')])
      for (const name of ['durability', 'memory-only redis']) expect(await stateOf(logins, name)).to.equal('problem')
    } finally {
      await Promise.all([durable.config('SET', 'appendfsync', 'always'), memoryOnly.config('SET', 'save', '')])
      await Promise.all([durable.acl('DELUSER', ...made), memoryOnly.acl('DELUSER', ...secretsMade)])
    }
  })

  it('warns three weeks before a certificate ends', () => {
    const nowMs = Date.parse('2030-01-01')
    const stateAfter = (days: number) => certificateFinding('api', nowMs + days * 86_400_000, nowMs).state
    expect([-1, 1, 20, 22].map(stateAfter)).to.deep.equal(['problem', 'warning', 'warning', 'ok'])
  })

  for (const { name, break: breakIt, check, state = 'problem', found, mend } of faults) {
    it(`finds ${name}, and what to do`, async () => {
      const { args, env, undo } = await breakIt(place())
      try {
        const { code, err, findings } = await examine(args, env)
        const match = findings.find(
          finding => finding.check.includes(check) && finding.state === state && found.test(finding.found)
        )
        expect(match, JSON.stringify(findings.filter(finding => finding.state !== 'ok'))).not.to.equal(undefined)
        expect(match?.mend).to.match(mend)
        if (state === 'problem') expect(code, err).to.equal(1)
        if (state === 'problem') expect(err).to.contain(check)
      } finally {
        await undo?.()
      }
    })
  }
})
