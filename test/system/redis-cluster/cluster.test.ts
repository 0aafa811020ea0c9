import { expect } from 'chai'
import type { CommandEntry } from '../../../redis/commands/command-entry.js'
import { ensureGroups, type ReadResult, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { createBlockingReads } from '../../../redis/connection/blocking-reads.js'
import { readableTogether, scanKeys } from '../../../redis/connection/cluster-nodes.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { durabilityProblem } from '../../../redis/installation/durability.js'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { keys } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { aWake } from '../../support/payments.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import { testBinary } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')
const PARTITIONS = 16
const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition)
const WAKE = aWake('0'.repeat(26))

describe('a Redis Cluster', () => {
  let cluster: RedisCluster
  let redis: Redis
  let blocking: Redis

  before(async () => {
    cluster = await RedisCluster.start({ binary: await testBinary(), masters: 3, replicas: 0, nodeTimeoutMs: 2_000 })
    redis = await connect(cluster.url, 'commands', log)
    blocking = await connect(cluster.url, 'blocking', log)
    await claimInstallation(redis, { environment: 'test', installationId: '', partitions: PARTITIONS })
    await ensureGroups(redis, PARTITIONS, paymentWork)
  })
  after(async () => {
    await Promise.all([redis, blocking].flatMap(connection => (connection ? [disconnect(connection)] : [])))
    await cluster?.stop()
  })

  it('hands the commands of every partition to a worker that waits for them', async () => {
    const reads = createBlockingReads(blocking)
    const found = Promise.all(
      readableTogether(blocking, partitions).map(group =>
        reads.read(keys.commands(group[0] ?? 0), node => readCommands(node, paymentWork, 'worker', group, 5, 10_000))
      )
    )
    for (const partition of partitions) await redis.xadd(keys.commands(partition), '*', ...WAKE)
    const entries = (await found).flatMap(read => read.entries)
    reads.close()
    expect(entries.map(entry => entry.partition)).to.deep.equal(partitions)
  })

  it('is queried on every master where each counts: durability, and walks over all keys', async () => {
    expect(await durabilityProblem(redis, false)).to.equal(undefined)
    const node = cluster.nodes[1]
    await node?.ask('CONFIG', 'SET', 'appendfsync', 'everysec')
    expect(await durabilityProblem(redis, false)).to.match(/appendfsync is everysec, must be always/)
    await node?.ask('CONFIG', 'SET', 'appendfsync', 'always')
    const streams: string[] = []
    for await (const found of scanKeys(redis, { match: '*:commands', count: 10 })) streams.push(...found)
    expect(streams.sort()).to.deep.equal(partitions.map(keys.commands))
  })

  it('is followed when a partition moves to another master, by reads that wait and by writes', async () => {
    const partition = 5
    const stream = keys.commands(partition)
    const writer = await connect(cluster.url, 'commands', log)
    const writes = unreplicated(writer)
    const reads = createBlockingReads(blocking)
    const read = (): Promise<ReadResult<CommandEntry>> =>
      reads.read(stream, node => readCommands(node, paymentWork, 'worker', [partition], 5))
    expect((await read()).entries).to.deep.equal([])
    const waiting = read().catch((error: Error) => error)
    await cluster.moveSlotOf(stream)
    await waiting
    await writes.run(stream, node => node.xadd(stream, '*', ...WAKE))
    const entries = await until('the command is read', async () => {
      const found = (await read().catch(() => null))?.entries ?? []
      return found.length > 0 && found
    })
    reads.close()
    await disconnect(writer)
    expect(entries.map(entry => entry.command.kind)).to.deep.equal(['wake'])
  })
})
