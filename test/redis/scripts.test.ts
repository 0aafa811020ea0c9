import { expect } from 'chai'
import { argumentsMin } from '../../redis/command-arguments.js'
import { ensureGroups, readCommands } from '../../redis/commands/read-commands.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../redis/keys.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import type { ScriptName } from '../../redis/script-names.js'
import { defineNamedScript, defineScript, loadLua, luaNames } from '../../redis/scripts.js'
import { createLogger } from '../../runtime/log.js'
import { anAcceptance, aPayment, CREATED_MS, createCommand, PARTITION } from '../support/payments.js'
import { useRedis } from '../support/redis.js'
import { urlAs } from '../support/redis-users.js'

const NEVER = { expiryAtMs: null, reconcileAtMs: null }
const USER = 'denied-scripts'
const log = createLogger('test', 'silent')

/** Each script with its commands, such as `xack` or `xgroup|delconsumer`, as the ACL names them. */
const scripts = luaNames.map(name => {
  const text = loadLua(name)
  const calls = [...text.matchAll(/redis\.p?call\((?:'([A-Z]+)'(?:, '([A-Z]+)')?)?/g)]
  const commands = calls.map(([, word = 'NOT LITERAL', part]) => (part === undefined ? word : `${word}|${part}`))
  return { name: name as ScriptName, commands: new Set(commands.map(one => one.toLowerCase())) }
})

describe('a script whose user may not run one of its commands', () => {
  const test = useRedis()
  let user: Redis
  let admin: Redis
  const permit = (...rules: string[]) =>
    admin.acl('SETUSER', USER, 'reset', 'on', `>${USER}`, '~*', '&reply:*', '+@all', ...rules)

  before(async () => {
    admin = await connect(test.url, 'commands', log)
    await permit()
    user = await connect(urlAs(USER, test.url), 'commands', log)
  })
  after(async () => {
    await disconnect(user)
    await admin.acl('DELUSER', USER)
    await disconnect(admin)
  })
  afterEach(async () => {
    await test.redis.flushdb()
  })

  for (const denied of ['hset', 'xack', 'publish']) {
    it(`leaves a payment as it was: commit without ${denied}`, async () => {
      await permit()
      await ensureGroups(test.redis, PARTITION + 1, paymentWork)
      const payments = createPaymentStore(unreplicated(test.redis))
      const payment = aPayment({ idempotencyKey: 'k1' })
      await payments.acceptPayment(payment, createCommand, anAcceptance({ idempotencyKey: 'k1' }))
      const [entry] = (await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 1)).entries
      if (entry === undefined) throw new Error('the command was not read')
      const before = await test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))

      await permit(`-${denied}`)
      const next = { ...payment, version: 2, progress: { ...payment.progress, status: 'captured' as const } }
      const write = { payment: next, statusBefore: 'pending' as const, wake: NEVER, nowMs: CREATED_MS, begins: null }
      const operationResult = { idempotencyKey: 'k1', result: { kind: 'succeeded' as const, progress: next.progress } }
      const commit = () =>
        createCommitStore(unreplicated(user)).commit({ ...write, operationResult, ends: entry }, PARTITION)
      const answer = await commit().catch(String)
      expect(await test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))).to.equal(before)
      expect(answer).to.match(/NOPERM.*commit/)

      await permit()
      expect(await commit()).to.equal('committed')
    })
  }

  for (const { name, commands } of scripts) {
    it(`writes nothing: ${name}, whichever of its commands is denied`, async () => {
      const run = () => defineScript(name)(user, Array(12).fill('{x}:k'), Array(20).fill('1'))
      for (const command of commands) {
        await permit(`-${command}`)
        const answer = await run().catch(String)
        expect(answer, command).to.match(new RegExp(`NOPERM.*${name}.* ${command.replace('|', ' ')}`, 'i'))
      }
      expect(await test.redis.dbsize()).to.equal(0)
    })
  }

  it('gives each command the fewest arguments that the server accepts, so that Redis 7.2 and newer check the permission', async () => {
    for (const [words, count] of Object.entries(argumentsMin)) {
      const [info] = (await test.redis.call('COMMAND', 'INFO', words.replace(' ', '|'))) as [[string, number]]
      expect(words.split(' ').length + count, words).to.equal(Math.abs(info[1]))
    }
  })
})

const drop = defineNamedScript<{
  keys: string
  given: { notification: string | undefined; againAtMs: number }
}>('drop_notification')

describe('a script that gets its keys and its argument by name', () => {
  const test = useRedis()
  const [due, since] = ['due', 'since']
  const given = { notification: 'a sale', againAtMs: 7 }
  beforeEach(async () => {
    await test.redis.flushdb()
    await test.redis.zadd(due, 7, 'a sale')
    await test.redis.hset(since, 'a sale', '1')
  })

  it('finds each key by its name, in any order', async () => {
    expect(await drop(test.redis, { since, due }, given)).to.equal(1)
    expect(await test.redis.exists(due, since)).to.equal(0)
  })

  it('is not run with an argument that it does not read', async () => {
    const misspelt = defineNamedScript<{ keys: string; given: Record<string, string | number> }>('drop_notification')
    const running = misspelt(test.redis, { due, since }, { notification: 'a sale', againAtMS: 7 })
    const error: unknown = await running.catch((reason: unknown) => reason)
    expect(String(error)).to.match(/drop_notification is given againAtMS, which it does not read/)
    expect(await test.redis.exists(due, since)).to.equal(2)
  })

  it('treats undefined as absent', async () => {
    expect(await drop(test.redis, { due, since }, { ...given, notification: undefined })).to.equal(0)
    expect(await test.redis.exists(due, since)).to.equal(2)
  })

  for (const [what, named] of [
    ['too few', { due }],
    ['too many', { due, since, line: 'x' }],
    ['others', { due, until: since }]
  ] as const) {
    it(`is not run with ${what} keys`, async () => {
      const running = drop(test.redis, named, given)
      const error: unknown = await running.catch((reason: unknown) => reason)
      expect(String(error)).to.match(/drop_notification has the keys due,since, not /)
      expect(await test.redis.exists(due, since)).to.equal(2)
    })
  }
})
