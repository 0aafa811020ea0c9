import { expect } from 'chai'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { isRedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { createWrites } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createCommitStore } from '../../../redis/payments/commits.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { anAcceptance, anEntry, aPayment, createCommand, PARTITION, recordIdOf } from '../../support/payments.js'
import { ReplicatedRedis } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')
const KEY = '{p03}:x'

/** A replica that is not scheduled for a second leaves a write unconfirmed: it is repeated, as by a client of the service. */
async function confirmed<T>(write: () => Promise<T>): Promise<T> {
  const { result } = await until('the replica has it', () =>
    write().then(
      result => ({ result }),
      (error: unknown) => {
        if (isRedisUnavailable(error)) return undefined
        throw error
      }
    )
  )
  return result
}

describe('writes that wait for a replica', () => {
  let servers: ReplicatedRedis
  let redis: Redis
  let own: Redis

  before(async () => {
    servers = await ReplicatedRedis.start()
    redis = await connect(servers.master.url, 'commands', log)
    own = await connect(servers.master.url, 'commands', log)
  })
  after(async () => {
    await Promise.all([redis, own].map(disconnect))
    await servers.stop()
  })

  it('are on the replica before they are answered', async () => {
    const writes = createWrites(redis, own, 1)
    for (let i = 0; i < 20; i++) {
      await confirmed(() => writes.run(KEY, node => node.set(KEY, String(i))))
      expect(await servers.replica.ask('GET', KEY)).to.equal(String(i))
    }
  })

  it('share a WAIT when they come together', async () => {
    const writes = createWrites(redis, own, 1)
    await servers.master.ask('CONFIG', 'RESETSTAT')
    await Promise.allSettled(Array.from({ length: 500 }, (_, i) => writes.run(KEY, node => node.set(KEY, String(i)))))
    const calls = /^calls=(\d+)/.exec((await servers.master.figure('commandstats', 'cmdstat_wait')) ?? '')?.[1]
    expect(Number(calls)).to.be.within(1, 50)
  })

  it('fail as a Redis that is away when too few replicas have them, and succeed when repeated later', async () => {
    const writes = createWrites(redis, own, 1)
    servers.replica.signal('SIGSTOP')
    const error: unknown = await writes.run(KEY, node => node.set(KEY, 'alone')).catch((thrown: unknown) => thrown)
    servers.replica.signal('SIGCONT')
    expect(isRedisUnavailable(error), String(error)).to.equal(true)
    expect(await redis.get(KEY)).to.equal('alone')
    expect(await confirmed(() => writes.run(KEY, node => node.get(KEY)))).to.equal('alone')
    expect(await servers.replica.ask('GET', KEY)).to.equal('alone')
  })

  it('do not hold up reads, which use another connection', async () => {
    const writes = createWrites(redis, own, 1)
    servers.replica.signal('SIGSTOP')
    await until('a read is answered while a write waits', async () => {
      let isWriting = true
      const writing = writes
        .run(KEY, node => node.set(KEY, 'slow'))
        .catch(() => undefined)
        .finally(() => {
          isWriting = false
        })
      let isSeen = false
      // A client that waits for replicas is flagged as blocked; its last command stays WAIT when it has ended.
      while (isWriting && !isSeen) isSeen = /\bflags=b\b/.test(String(await redis.client('LIST')))
      await writing
      return isSeen
    })
    servers.replica.signal('SIGCONT')
  })

  it('know whether a command is still with its worker before it may charge', async () => {
    await ensureGroups(redis, PARTITION + 1, paymentWork)
    const writes = createWrites(redis, own, 1)
    const commits = createCommitStore(writes)
    const payment = aPayment()
    await confirmed(() => createPaymentStore(writes).acceptPayment(payment, createCommand, anAcceptance()))
    const blocking = await connect(servers.master.url, 'blocking', log)
    const { entries } = await readCommands(blocking, paymentWork, 'worker', [PARTITION], 1)
    await disconnect(blocking)
    const [entry] = entries
    if (entry === undefined) throw new Error('no command was read')
    expect(await confirmed(() => commits.begin(entry, 1))).to.equal('begun')
    expect(await confirmed(() => commits.begin(anEntry(payment, { entryId: '1-1' }), 1))).to.equal('taken_over')
    servers.replica.signal('SIGSTOP')
    const refused = await commits.begin(entry, 1).catch((error: unknown) => error)
    servers.replica.signal('SIGCONT')
    expect(isRedisUnavailable(refused)).to.equal(true)
  })

  it('answer the waiting request only when the replica has the result', async () => {
    const heard: boolean[] = []
    const subscriber = await connect(servers.master.url, 'subscriber', log)
    await subscriber.subscribe('reply:test')
    const payment = aPayment()
    const writes = createWrites(redis, own, 1)
    const acceptance = anAcceptance({ idempotencyKey: 'another key' })
    await confirmed(() => createPaymentStore(writes).acceptPayment(payment, createCommand, acceptance))
    const record = keys.idempotency(PARTITION, recordIdOf('another key'))
    const [entry] = (await redis.xrevrange(keys.commands(PARTITION), '+', '-', 'COUNT', 1)) as [string, string[]][]
    await redis.xreadgroup('GROUP', 'payments', 'worker', 'COUNT', 10, 'STREAMS', keys.commands(PARTITION), '>')
    const told = new Promise<void>(resolve => {
      subscriber.on('message', () => {
        void servers.replica.ask('GET', record).then(value => {
          heard.push(String(value).startsWith('[1,[2,'))
          resolve()
        })
      })
    })
    const replyTo = { channel: 'reply:test', commandId: 'command-1' }
    const command = anEntry(payment, { entryId: entry?.[0] ?? '', idempotencyKey: 'another key', replyTo })
    await confirmed(() => createCommitStore(writes).refuse(command, 'invalid_state', 1))
    await told
    await disconnect(subscriber)
    expect(heard).to.deep.equal([true])
  })
})
