/** The comparison of the durable data with what is remembered of it, on real servers that lose some of it. */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { cp, mkdir, mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { isRedisUnavailable, MoneyWaits, RedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { unreplicated, type Writes } from '../../../redis/connection/writes.js'
import { acceptedAs, counterOf, type Seen, type Vouch } from '../../../redis/installation/epochs.js'
import { readPartition, writeVouch } from '../../../redis/installation/partition-data.js'
import { SeenFile } from '../../../redis/installation/seen-file.js'
import { endUnvouched, forgetCompared, someUnvouched } from '../../../redis/installation/unvouched-payments.js'
import { Vouching, type VouchingOptions } from '../../../redis/installation/vouching.js'
import { keys } from '../../../redis/keys.js'
import { acceptRestored, standingsOf } from '../../../redis/operator/restored-data.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedisNode } from '../../support/redis.js'
import { ReplicatedRedis } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')
const PARTITIONS = 16

/** What processes remember together; null while the memory-only Redis is away. */
interface Shared {
  seen: Seen | null
}

/** A process: its connection, its comparison, and the payments that it accepts. */
class Process {
  readonly redis: Redis
  readonly vouching: Vouching

  private constructor(redis: Redis, vouching: Vouching) {
    this.redis = redis
    this.vouching = vouching
  }

  static async start(
    url: string,
    shared: Shared = { seen: null },
    mayDecide = true,
    writesOf: (redis: Redis) => Writes = unreplicated,
    file: VouchingOptions['file'] = { readAll: async () => [], write: () => undefined }
  ): Promise<Process> {
    const redis = await connect(url, 'commands', log)
    const vouching = new Vouching({
      writes: writesOf(redis),
      connection: redis,
      partitions: PARTITIONS,
      environment: 'live',
      mayDecide,
      file,
      exchange: async own => {
        const before = shared.seen
        if (own.atMs > 0) shared.seen = own
        return before
      },
      log
    })
    await vouching.start()
    return new Process(redis, vouching)
  }

  async accept(count = 1): Promise<void> {
    const store = createPaymentStore(this.vouching.guarded())
    for (let i = 0; i < count; i++) {
      const payment = aPayment()
      await store.acceptPayment(payment, createCommand, { ...anAcceptance(), idempotencyRecordId: payment.terms.id })
    }
  }

  async stop(): Promise<void> {
    await this.vouching.stop()
    await disconnect(this.redis)
  }
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (thrown: unknown) => thrown
  )
}

describe('the comparison of the data', () => {
  const processes: Process[] = []
  afterEach(() => stopAll())
  const server = useRedisNode(beforeEach)

  const start = async (shared?: Shared, mayDecide?: boolean): Promise<Process> => {
    const started = await Process.start(server.node.url, shared, mayDecide)
    processes.push(started)
    return started
  }
  const stopAll = async (): Promise<void> => void (await Promise.all(processes.splice(0).map(one => one.stop())))
  const vouch = async (): Promise<Vouch | null> => {
    const redis = await connect(server.node.url, 'commands', log)
    const found = (await standingsOf(redis, PARTITIONS)).find(({ partition }) => partition === PARTITION)
    await disconnect(redis)
    return found?.vouch ?? null
  }
  const standing = async (): Promise<string | undefined> => (await vouch())?.standing
  const untilAccepted = (one: Process): Promise<unknown> =>
    until('writes go on', async () => (await failureOf(one.accept())) === null)
  const untilWaits = (one: Process): Promise<unknown> =>
    until('money waits', async () => (await failureOf(one.accept())) instanceof MoneyWaits)
  /** The file of the server, and how long it is. */
  const written = async (): Promise<{ file: string; bytes: number }> => {
    const folder = join(server.dir, 'appendonlydir')
    const file = join(folder, (await readdir(folder)).find(name => name.endsWith('.incr.aof')) ?? '')
    return { file, bytes: (await stat(file)).size }
  }

  it('fails once when its connection is lost: an error that nothing awaits would end the process', async () => {
    const lost = new RedisUnavailable('The connection is lost.')
    const unawaited: unknown[] = []
    const note = (reason: unknown): void => void unawaited.push(reason)
    process.on('unhandledRejection', note)
    let asked = 0
    const one = await Process.start(server.node.url, undefined, undefined, redis => {
      Object.assign(redis, {
        info: async () => {
          asked++
          throw lost
        }
      })
      return { ...unreplicated(redis), run: () => new Promise((_, reject) => setImmediate(() => reject(lost))) }
    })
    processes.push(one)
    process.off('unhandledRejection', note)
    expect({ asked, unawaited }).to.deep.equal({ asked: 1, unawaited: [] })
    expect(await failureOf(one.accept())).to.be.instanceOf(RedisUnavailable)
  })

  it('refuses the first write to a server that was emptied, also before it has looked', async () => {
    const one = await start()
    await one.accept(3)
    one.vouching.assertWhole(PARTITION)
    await server.node.ask('FLUSHALL')
    expect(await failureOf(one.accept())).to.be.instanceOf(RedisUnavailable)
    expect(() => one.vouching.assertWhole(PARTITION)).to.throw(RedisUnavailable)
    await untilWaits(one)
    expect(() => one.vouching.assertWhole(PARTITION)).to.throw(RedisUnavailable)
  })

  it('begins no epoch with a counter that another process has raised meanwhile', async () => {
    const one = await start()
    await untilAccepted(one)
    const data = await readPartition(one.redis, PARTITION)
    if (data.vouch === null) throw new Error('nothing vouches for the data')
    const next = acceptedAs(data.vouch, { count: data.count, serverId: 's' }, Date.now())
    await one.accept()
    expect(await writeVouch(one.redis, PARTITION, data, next, null)).to.equal(false)
    const current = await readPartition(one.redis, PARTITION)
    expect(await writeVouch(one.redis, PARTITION, current, next, null)).to.equal(true)
  })

  it('refuses the first write to other data, and goes on when its own is back', async () => {
    const one = await start()
    await one.accept(3)
    await server.node.ask('SWAPDB', '0', '1')
    expect(await failureOf(one.accept())).to.be.instanceOf(RedisUnavailable)
    await server.node.ask('SWAPDB', '0', '1')
    await untilAccepted(one)
    expect(await standing()).to.equal('vouched')
  })

  it('keeps the data vouched for when the server restarts', async () => {
    const one = await start()
    await one.accept(3)
    await server.node.kill()
    await server.node.restart()
    await untilAccepted(one)
    expect((await vouch())?.epochs).to.have.lengthOf(2)
    expect(await standing()).to.equal('vouched')
  })

  it('keeps the data vouched for when all processes restart with what they remember together', async () => {
    const shared: Shared = { seen: null }
    const one = await start(shared)
    await one.accept(3)
    await until('it is remembered', () => (shared.seen?.memories.get(PARTITION)?.count ?? 0) >= 3)
    await stopAll()
    await server.node.kill()
    await server.node.restart()
    await untilAccepted(await start(shared))
    expect(await standing()).to.equal('vouched')
  })

  it('stops money when the file lost its end, and continues with care when an operator accepts that', async () => {
    const one = await start()
    await one.accept(2)
    const { file, bytes } = await written()
    await one.accept(3)
    await server.node.kill()
    await truncate(file, bytes)
    await server.node.restart()
    await untilWaits(one)
    expect((await vouch())?.missing).to.deep.include({ commits: 3, epoch: 1 })

    await acceptRestored(one.redis, PARTITION, 'live')
    await untilAccepted(one)
    expect(await standing()).to.equal('unvouched')
    expect(one.vouching.unvouchedBeforeMs(PARTITION)).to.be.within(Date.now() - 3_600_000, Date.now() + 3_600_000)
    const some = await someUnvouched(unreplicated(one.redis), PARTITION)
    expect(some, 'the payments that wait').to.have.lengthOf(2)
    expect(Object.keys(await one.redis.hgetall(keys.begun(PARTITION)))).to.have.members([...some])

    await endUnvouched(unreplicated(one.redis), PARTITION)
    expect(await standing(), 'some are not compared yet').to.equal('unvouched')
    await forgetCompared(unreplicated(one.redis), PARTITION, some)
    await endUnvouched(unreplicated(one.redis), PARTITION)
    expect(await standing()).to.equal('vouched')
  })

  it('notices a loss although another process has committed since', async () => {
    const one = await start()
    await one.accept(2)
    const { file, bytes } = await written()
    const before = (await vouch())?.epochs.at(-1)
    await one.accept(2)
    await one.vouching.stop()
    await server.node.kill()
    await truncate(file, bytes)
    await server.node.restart()
    const memory = { epoch: 1, serverId: before?.serverId ?? '', count: 2 }
    const other = await start({ seen: { atMs: Date.now(), memories: new Map([[PARTITION, memory]]) } })
    await other.accept(10)
    expect(await standing(), 'all that the other one remembers is there').to.equal('vouched')

    await until('the first one is back', async () => (await failureOf(one.redis.ping())) === null)
    await one.vouching.start()
    await untilWaits(one)
    expect((await vouch())?.missing?.commits).to.equal(2)
    await untilWaits(other)
  })

  it('stops money on an older folder in the place of the newer one', async () => {
    const one = await start()
    await one.accept(2)
    const copy = await mkdtemp(join(tmpdir(), 'payments-vouching-copy-'))
    await cp(join(server.dir, 'appendonlydir'), copy, { recursive: true })
    await one.accept(4)
    await server.node.kill()
    await rm(join(server.dir, 'appendonlydir'), { recursive: true })
    await cp(copy, join(server.dir, 'appendonlydir'), { recursive: true })
    await rm(copy, { recursive: true })
    await server.node.restart()
    await untilWaits(one)
    expect((await vouch())?.missing?.commits).to.equal(4)
  })

  it('is careful when nothing is left that remembers the data', async () => {
    const one = await start()
    await one.accept(2)
    await stopAll()
    await server.node.kill()
    await server.node.restart()
    const anew = await start()
    expect(await standing()).to.equal('unvouched')
    await anew.accept()
    expect(await someUnvouched(unreplicated(anew.redis), PARTITION), 'not the new one').to.have.lengthOf(2)
  })

  it('is left to `payments` by an `api`, which waits for it after a restart of the server', async () => {
    const first = await start()
    const api = await start({ seen: null }, false)
    await untilAccepted(api)
    await first.stop()
    await server.node.kill()
    await server.node.restart()
    await until('the `api` is back', async () => (await failureOf(api.redis.ping())) === null)
    expect(isRedisUnavailable(await failureOf(api.accept()))).to.equal(true)
    await start()
    await untilAccepted(api)
  })

  it('finds the data vouched for when the server was a replica for a moment, on connections that outlive that', async () => {
    const [one, api] = [await start(), await start(undefined, false)]
    await untilAccepted(api)
    // It has looked for the last time before the change.
    await api.vouching.stop()
    await one.redis.pipeline().replicaof('127.0.0.1', 1).replicaof('NO', 'ONE').exec()
    await until('a new epoch has begun', async () => (await vouch())?.epochs.length === 2)
    await api.accept(3)
    await api.vouching.start()
    await Promise.all([api.accept(), one.accept()])
    const missing = [one, api].flatMap(({ vouching }) => vouching.missing())
    expect([await standing(), missing]).to.deep.equal(['vouched', []])
  })
})

describe('the comparison of the data, while the disk with its memory hangs', () => {
  const server = useRedisNode()

  it('goes on over a new connection', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'payments-vouching-hung-'))
    const fifos = ['payments.json', `payments.json.${process.pid}`].map(name => join(dataDir, 'seen', name))
    await mkdir(join(dataDir, 'seen'))
    await promisify(execFile)('mkfifo', fifos)
    try {
      const one = await Process.start(
        server.node.url,
        { seen: null },
        true,
        unreplicated,
        new SeenFile(dataDir, 'payments', '')
      )
      await one.accept()
      await one.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no').catch(() => undefined)
      await until('writes go on', async () => (await failureOf(one.accept())) === null)
      expect(one.vouching.waitedMs()).to.equal(0)
      await one.stop()
    } finally {
      // What hangs in them ends.
      for (const fifo of fifos) await open(fifo, constants.O_RDWR | constants.O_NONBLOCK).then(file => file.close())
      await rm(dataDir, { recursive: true })
    }
  })
})

describe('the comparison of the data at a failover', () => {
  let servers: ReplicatedRedis

  before(async () => {
    servers = await ReplicatedRedis.start()
  })
  after(() => servers.stop())

  it('stops money when the new master lacks what was acknowledged', async () => {
    const shared: Shared = { seen: null }
    const one = await Process.start(servers.master.url, shared)
    await one.accept(2)
    await until(
      'the replica has it',
      async () =>
        (await servers.replica.ask('GET', keys.commitCounter(PARTITION))) === String(counterOf({ epoch: 1, count: 2 }))
    )
    await servers.replica.ask('REPLICAOF', 'NO', 'ONE')
    await one.accept(3)
    await until('it is remembered', () => (shared.seen?.memories.get(PARTITION)?.count ?? 0) >= 5)
    await one.stop()
    await servers.master.kill()
    const after = await Process.start(servers.replica.url, shared)
    await until('money waits', async () => (await failureOf(after.accept())) instanceof MoneyWaits)
    expect(after.vouching.missing()).to.have.lengthOf(1)
    await after.stop()
  })
})
