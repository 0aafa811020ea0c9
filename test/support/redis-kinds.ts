/** The kinds of Redis that an address may name, as servers that a test can freeze, and a piece of work for each role. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { createBlockingReads } from '../../redis/connection/blocking-reads.js'
import { connect, type Redis, type Role } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { until } from './conditions.js'
import { RedisCluster } from './redis-cluster.js'
import { RedisNode } from './redis-node.js'
import { ReplicatedRedis, Sentinels, testBinary } from './sentinels.js'

/** Servers behind one address. */
export interface RedisKind {
  readonly url: string
  readonly nodes: readonly RedisNode[]
  stop(): Promise<void>
}

/** `tls` of each kind: settings with the files of TLS. */
export async function startSingle(tls: readonly string[] = []): Promise<RedisKind> {
  const dir = await mkdtemp(join(tmpdir(), 'payments-single-'))
  const node = await RedisNode.start(await testBinary(), dir, tls)
  return {
    url: tls.length === 0 ? node.url : `rediss://localhost:${node.tlsPort}`,
    nodes: [node],
    stop: async () => {
      await node.stop()
      await rm(dir, { recursive: true, force: true })
    }
  }
}

/** Servers that also speak TLS. Their certificate is trusted by no one: the test sets NODE_TLS_REJECT_UNAUTHORIZED. */
export async function overTls(start: (tls: readonly string[]) => Promise<RedisKind>): Promise<RedisKind> {
  const dir = await mkdtemp(join(tmpdir(), 'payments-tls-'))
  // Its own authority, for servers and for clients: the nodes of a Cluster are both.
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  const files = ['--tls-ca-cert-file', certFile, '--tls-cert-file', certFile, '--tls-key-file', keyFile]
  const servers = await start([...files, '--tls-auth-clients', 'no'])
  return {
    ...servers,
    stop: async () => {
      await servers.stop()
      await rm(dir, { recursive: true, force: true })
    }
  }
}

export async function startBehindSentinels(tls: readonly string[] = []): Promise<RedisKind> {
  const servers = await ReplicatedRedis.start('durable', tls)
  const sentinels = await Sentinels.start(servers)
  return {
    url: sentinels.url,
    nodes: [servers.master, servers.replica],
    stop: async () => {
      await sentinels.stop()
      await servers.stop()
    }
  }
}

/** Its nodes do not take each other for dead while all are frozen. */
export async function startCluster(tls: readonly string[] = []): Promise<RedisKind> {
  const size = { masters: 3, replicas: 0, nodeTimeoutMs: 120_000 }
  const cluster = await RedisCluster.start({ binary: await testBinary(), ...size, tls })
  return { url: cluster.url, nodes: cluster.nodes, stop: () => cluster.stop() }
}

/** Resolves when each of these servers answers a connection of its own. */
export async function untilAllAnswer(nodes: readonly Pick<RedisNode, 'port'>[]): Promise<void> {
  await Promise.all(
    nodes.map(async ({ port }) => {
      while (!(await doesAnswer(port))) await delay(20)
    })
  )
}

function doesAnswer(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connectSocket({ host: '127.0.0.1', port })
    const finish = (isAnswered: boolean): void => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.setTimeout(5_000, () => finish(false))
    socket.once('error', () => finish(false)).once('data', () => finish(true))
    socket.write('PING\r\n')
  })
}

/** A connection, and the work that only its role does. `work` rejects while the connection is unusable. */
export interface Worker {
  readonly role: Role
  readonly redis: Redis
  work(): Promise<unknown>
}

const log = createLogger('test', 'silent')
let channels = 0

export async function openWorker(url: string, role: Role, publisher: () => Redis): Promise<Worker> {
  // A start that finds no server in its time is begun again, as the supervisor does: a Cluster whose nodes are not scheduled has none.
  const redis = await until(`a connection for ${role} to ${url}`, () => connect(url, role, log).catch(() => undefined))
  if (role === 'blocking') {
    const reads = createBlockingReads(redis)
    const key = `blocking-${channels++}`
    return { role, redis, work: () => reads.read(key, node => node.blpop(key, 0.05)) }
  }
  if (role !== 'subscriber') return { role, redis, work: () => redis.set(`work-${role}`, 'x'.repeat(200)) }
  const channel = `reply:kinds-${process.pid}-${channels++}`
  let heard = 0
  redis.on('message', () => heard++)
  await redis.subscribe(channel)
  const hear = async (): Promise<void> => {
    const before = heard
    await publisher().publish(channel, 'a message')
    for (let waitedMs = 0; heard === before; waitedMs += 10) {
      if (waitedMs > 300) throw new Error('the message was not heard')
      await delay(10)
    }
  }
  return { role, redis, work: hear }
}

const ROUND_MS = 50

/**
 * The workers whose work, tried again and again, has not succeeded while fresh clients of these servers were answered in so many
 * rounds of 50 ms. Counted, not measured: a machine that is busy, or a server that is not scheduled, holds up the rounds, too.
 */
export async function lateWorkers(
  nodes: readonly Pick<RedisNode, 'port'>[],
  workers: readonly Worker[],
  rounds: number
): Promise<string[]> {
  const waiting = new Set(workers)
  const attempt = async (worker: Worker): Promise<void> => {
    while (waiting.has(worker)) {
      const isDone = await worker.work().then(
        () => true,
        () => false
      )
      if (isDone) waiting.delete(worker)
      else await delay(20)
    }
  }
  for (const worker of workers) void attempt(worker)
  for (let round = 0; round < rounds && waiting.size > 0; round++) {
    await delay(ROUND_MS)
    await untilAllAnswer(nodes)
  }
  const late = [...waiting].map(({ role, redis }) => `${role} (${redis.status})`)
  waiting.clear()
  return late
}
