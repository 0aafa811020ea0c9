/** What operators change is recorded, and what can't be undone is confirmed. All of it as the Redis user `operator`. */
import { hostname, userInfo } from 'node:os'
import { expect } from 'chai'
import { recordAttempt } from '../../../redis/operator/audit-trail.js'
import { createLogger } from '../../../runtime/log.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'
import { makeRedisUsers, urlAs } from '../../support/redis-users.js'

describe('operator command line: audit trail', () => {
  const servers = useRedis()
  before(async () => {
    await makeRedisUsers(servers.redis, 'durable')
    // Test files that share a server have a database each; an installation has one.
    await servers.redis.acl('SETUSER', 'operator', '+select')
  })

  const run = (line: string, more?: Parameters<typeof operate>[2]) =>
    operate({ SERVICE_ENV: 'test', REDIS_URL: urlAs('operator', servers.url) }, line.split(' '), more)
  const rows = async (line: string) => (await run(`audit ${line} --json`)).json() as Record<string, unknown>[]
  const newMerchant = async () =>
    ((await run('merchant create Loja --json')).json() as { merchant_id: string }).merchant_id

  it('records who made a change, when, why, and how it ended', async () => {
    const merchant = await newMerchant()
    const fromMs = Date.now()
    await run(`merchant disable ${merchant} --actor ana --reason OPS-17`)
    const [created, disabled] = await rows(merchant)
    expect(created).to.include({ verb: 'merchant create', target: 'Loja', outcome: 'done', detail: merchant })
    expect(created).to.include({ actor: `${userInfo().username}@${hostname()}`, reason: null })
    expect(disabled).to.include({ actor: 'ana', verb: 'merchant disable', target: merchant, reason: 'OPS-17' })
    expect(Date.parse(String(disabled?.['at']))).to.be.within(fromMs - 1_000, Date.now() + 1_000)
    expect((await run(`audit ${merchant}`)).out).to.match(/Z +ana +merchant disable +m_\w+ +\{\} +done +- +OPS-17$/m)
  })

  const cardData = ['card-4024007153760060', 'cvv:123']
  for (const [option, text] of ['--reason', '--label', '--actor'].flatMap(name =>
    cardData.map(data => [name, data] as const)
  )) {
    it(`keeps no card data: ${option} ${text}`, async () => {
      const merchant = await newMerchant()
      const before = await rows('')
      const { code, err } = await run(`key create --merchant ${merchant} --permissions payments:read ${option} ${text}`)
      expect([code, err.includes('card number'), err.includes(text)], err).to.deep.equal([2, true, false])
      expect(await rows('')).to.deep.equal(before)
    })
  }

  it('keeps no text of any length, and nothing of a command without its subject', async () => {
    const before = await rows('')
    for (const line of [`merchant create ${'x'.repeat(100_000)}`, `key revoke ${'k'.repeat(1_001)} --yes`]) {
      const { code, err } = await run(line)
      expect([code, /has 10\d+ characters, and the audit trail keeps 1000 at most/.test(err)], err).to.deep.equal([
        2,
        true
      ])
    }
    expect((await run('key revoke  --yes')).err).to.contain('missing argument <key>')
    expect(await rows('')).to.deep.equal(before)
  })

  it('records a change that failed, with its options, and no verb that only reads', async () => {
    await run('webhook discard m_typo --before 2026-01-02T00:00:00Z --yes')
    await run('merchant show m_typo')
    const found = await rows('m_typo')
    expect(found).to.have.lengthOf(1)
    expect(found[0]).to.deep.include({ outcome: 'failed', options: { before: Date.parse('2026-01-02') } })
    expect(String(found[0]?.['detail'])).to.contain('There is no merchant m_typo')
  })

  it('records nothing, and asks nothing, when it does not understand the subject', async () => {
    for (const line of ['clock advance 1y', 'archive drop 2024-3', 'payment erase-buyer 12']) {
      const { code, err } = await run(line)
      expect([code, err.includes('is not')], err).to.deep.equal([2, true])
      expect(await rows(line.split(' ').at(-1) ?? '')).to.deep.equal([])
    }
  })

  it('lists what happened since a time, and nothing before', async () => {
    await run('merchant disable m_early')
    const since = new Date(Date.now() + 5_000).toISOString()
    expect(await rows(`m_early --since ${since}`)).to.deep.equal([])
    expect(await rows('m_early --since 2026-01-01T00:00:00Z')).to.have.lengthOf(1)
  })

  it('shows the attempt of a command that died before its outcome', async () => {
    const attempt = { actor: 'ana', verb: 'key revoke', target: 'k_died', options: {}, reason: '' }
    await recordAttempt(servers.redis, attempt)
    expect((await rows('k_died'))[0]).to.include({ outcome: null, verb: 'key revoke' })
    expect((await run('audit k_died')).out).to.match(/ key revoke +k_died +\{\} +- +- +-$/m)
  })

  it('records a payment by its id, however that was typed', async () => {
    const id = '01a2126e-1eb1-77bd-bc4b-f301fbd65009'
    await run(`payment settle-attention ${id.toUpperCase()}`)
    for (const typed of [id, id.toUpperCase()]) {
      expect((await rows(typed)).map(({ target }) => target)).to.deep.equal([id])
    }
  })

  it('changes nothing when the audit trail cannot be written', async () => {
    const merchant = await newMerchant()
    await servers.redis.acl('SETUSER', 'operator', '-xadd')
    try {
      expect((await run(`merchant disable ${merchant}`)).code).to.equal(1)
    } finally {
      await servers.redis.acl('SETUSER', 'operator', '+xadd')
    }
    expect((await run(`merchant show ${merchant} --json`)).json()).to.include({ enabled: true })
  })

  it('logs each change in one line', async () => {
    const lines: string[] = []
    const log = createLogger('operator', 'info', { write: line => void lines.push(line) })
    await run('merchant disable m_none --actor ana', { log })
    expect(lines).to.have.lengthOf(1)
    expect(JSON.parse(lines[0] ?? '')).to.include({
      msg: 'an operator asked for a change',
      actor: 'ana',
      verb: 'merchant disable',
      target: 'm_none',
      outcome: 'failed'
    })
  })

  for (const line of [
    'key revoke k_1',
    'vault retire 1',
    'webhook discard m_1',
    'webhook disable m_1',
    'dead-letter discard 0:1-1',
    'payment conclude 01890a5d-ac96-774b-bcce-b302099a8000 --not-booked'
  ]) {
    it(`requires --yes without a terminal: ${line}`, async () => {
      const { code, err } = await run(line)
      expect(code).to.equal(2)
      expect(err).to.match(/^error: "[\w -]+ [\w:-]+" in test cannot be undone\. Nothing was changed\. Add --yes/)
      expect(await rows(line.split(' ')[2] ?? '')).to.deep.equal([])
    })
  }

  it('asks the person at a terminal, and names the target', async () => {
    const asked: string[] = []
    const answering = (answer: string) => ({
      ask: async (question: string) => {
        asked.push(question)
        return answer
      }
    })
    expect((await run('key revoke k_2', answering('y'))).code).to.equal(2)
    expect((await run('key revoke k_2', answering('yes'))).err).to.contain('There is no key k_2')
    expect(asked[0]).to.equal('"key revoke k_2" in test cannot be undone. Type yes to do it: ')
    expect(await rows('k_2')).to.have.lengthOf(1)
  })
})
