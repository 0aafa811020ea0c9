/** A master with a replica, and Sentinels that choose a new master when the old one is silent. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { createLogger } from '../../runtime/log.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainRedis, type RedisBinary } from '../../scripts/start/redis-binary.js'
import { until } from './conditions.js'
import { RedisNode } from './redis-node.js'
import { spawnRedis } from './redis-servers.js'

const MASTER_NAME = 'payments'
const SENTINELS = 3
/** Sentinels fail over when a test kills the master, not when a busy machine keeps a living one from answering. */
const NEVER_DOWN_AFTER_MS = 600_000
const DOWN_AFTER_MS = 1_000

/** The server program of the tests. */
export function testBinary(): Promise<RedisBinary> {
  return obtainRedis(resolve('.vendor'), line => process.stderr.write(`${line}\n`))
}

/** What each server of a memory-only pair is told (docs/REDIS.md, The memory-only Redis). */
const MEMORY_ONLY = [
  ...['--appendonly', 'no', '--repl-diskless-sync', 'yes', '--repl-diskless-load', 'swapdb'],
  ...['--crash-log-enabled', 'no']
]

/** A server and one that follows it. */
export class ReplicatedRedis {
  readonly master: RedisNode
  readonly replica: RedisNode
  readonly dir: string
  /** Settings with the files of TLS; none without it. */
  readonly tls: readonly string[]

  private constructor(master: RedisNode, replica: RedisNode, dir: string, tls: readonly string[]) {
    this.master = master
    this.replica = replica
    this.dir = dir
    this.tls = tls
  }

  static async start(
    kind: 'durable' | 'memory-only' = 'durable',
    tls: readonly string[] = []
  ): Promise<ReplicatedRedis> {
    const settings = [...(kind === 'durable' ? [] : MEMORY_ONLY), ...replicatedOver(tls)]
    const binary = await testBinary()
    const dir = await mkdtemp(join(tmpdir(), 'payments-replicas-'))
    const master = await RedisNode.start(binary, join(dir, 'master'), settings)
    const replica = await RedisNode.start(binary, join(dir, 'replica'), [
      ...settings,
      ...['--replicaof', `127.0.0.1 ${portOf(master, tls)}`],
      ...['--repl-ping-replica-period', '1']
    ])
    await until('the replica follows', async () => Number(await master.ask('WAIT', '1', '100')) === 1)
    return new ReplicatedRedis(master, replica, dir, tls)
  }

  async stop(): Promise<void> {
    await Promise.all([this.master.stop(), this.replica.stop()])
    await rm(this.dir, { recursive: true, force: true })
  }
}

function replicatedOver(tls: readonly string[]): readonly string[] {
  return tls.length === 0 ? [] : [...tls, '--tls-replication', 'yes']
}

function portOf({ port, tlsPort }: RedisNode, tls: readonly string[]): number {
  return tls.length === 0 ? port : tlsPort
}

export class Sentinels {
  readonly url: string
  readonly #servers: ReplicatedRedis
  readonly #ports: readonly number[]
  readonly #children: readonly ChildProcess[]

  private constructor(
    servers: ReplicatedRedis,
    [ports, tlsPorts]: readonly [readonly number[], readonly number[]],
    children: readonly ChildProcess[]
  ) {
    const addresses = (servers.tls.length === 0 ? ports : tlsPorts).map(port => `127.0.0.1:${port}`)
    this.url = `${servers.tls.length === 0 ? 'redis' : 'rediss'}-sentinel://${addresses.join(',')}/${MASTER_NAME}`
    this.#servers = servers
    this.#ports = ports
    this.#children = children
  }

  /** Resolves when they know the replica and each other. */
  static async start(servers: ReplicatedRedis): Promise<Sentinels> {
    const { master, dir, tls } = servers
    const binary = await testBinary()
    const [ports, tlsPorts]: [number[], number[]] = [[], []]
    const children: ChildProcess[] = []
    for (let i = 0; i < SENTINELS; i++) {
      const [port, tlsPort] = [await freePort(), await freePort()]
      const overTls = tls.length === 0 ? [] : [...replicatedOver(tls), '--tls-port', String(tlsPort)]
      const file = join(dir, `sentinel-${i}.conf`)
      const lines = [
        ...[`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`],
        ...overTls.flatMap((option, i) => (i % 2 === 0 ? [`${option.slice(2)} ${overTls[i + 1]}`] : [])),
        `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${portOf(master, tls)} 2`,
        `sentinel down-after-milliseconds ${MASTER_NAME} ${NEVER_DOWN_AFTER_MS}`,
        `sentinel failover-timeout ${MASTER_NAME} 3000`
      ]
      await writeFile(file, `${lines.join('\n')}\n`)
      children.push(spawnRedis(binary, [file, '--sentinel']))
      ports.push(port)
      tlsPorts.push(tlsPort)
    }
    await Promise.all(ports.map(untilInformed))
    return new Sentinels(servers, [ports, tlsPorts], children)
  }

  /** From now on they fail over to the replica. */
  async killMaster(): Promise<void> {
    await this.#servers.master.kill()
    await Promise.all(
      this.#ports.map(port =>
        withSentinel(port, sentinel =>
          sentinel.call('SENTINEL', 'SET', MASTER_NAME, 'down-after-milliseconds', DOWN_AFTER_MS)
        )
      )
    )
  }

  /** How many connections listen to each of them for a failover. */
  async listeners(): Promise<number[]> {
    const lists = this.#ports.map(port =>
      withSentinel(port, async sentinel => String(await sentinel.call('CLIENT', 'LIST', 'TYPE', 'pubsub')))
    )
    return (await Promise.all(lists)).map(list => list.split('\n').filter(line => line !== '').length)
  }

  /** As one that is started again does. Resolves to how many each of them had. */
  async closeListeners(): Promise<number[]> {
    const closing = this.#ports.map(port =>
      withSentinel(port, sentinel => sentinel.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))
    )
    return (await Promise.all(closing)).map(Number)
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async child => {
        const ended = once(child, 'exit')
        // The guard in front of the server ends it with its own input.
        child.stdin?.end()
        await ended
      })
    )
  }
}

async function withSentinel<T>(port: number, work: (sentinel: Redis) => Promise<T>): Promise<T> {
  const sentinel = await connect(`redis://127.0.0.1:${port}`, 'commands', createLogger('test', 'silent'))
  try {
    return await work(sentinel)
  } finally {
    await disconnect(sentinel)
  }
}

async function untilInformed(port: number): Promise<void> {
  await withSentinel(port, sentinel =>
    until('the Sentinels know each other and the replica', async () => {
      const replicas = (await sentinel.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as unknown[]
      const others = (await sentinel.call('SENTINEL', 'SENTINELS', MASTER_NAME)) as unknown[]
      return replicas.length === 1 && others.length === SENTINELS - 1
    })
  )
}
