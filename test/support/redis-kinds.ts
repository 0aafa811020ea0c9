/** The kinds of Redis that an address may name, as servers that a test can freeze, and a piece of work for each role. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBlockingReads } from '../../redis/connection/blocking-reads.js'
import { connect, type Redis, type Role } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { makeLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'
import { RedisCluster } from './redis-cluster.js'
import { RedisNode } from './redis-node.js'
import { ReplicatedRedis, Sentinels, testBinary } from './sentinels.js'

/** Servers behind one address. */
export interface RedisKind {
  readonly url: string
  readonly nodes: readonly RedisNode[]
  stop(): Promise<void>
}

export async function startSingle(): Promise<RedisKind> {
  const dir = await mkdtemp(join(tmpdir(), 'payments-single-'))
  const node = await RedisNode.start(await testBinary(), dir, [])
  return {
    url: node.url,
    nodes: [node],
    stop: async () => {
      await node.stop()
      await rm(dir, { recursive: true, force: true })
    }
  }
}

/** Its certificate is trusted by no one: the test sets NODE_TLS_REJECT_UNAUTHORIZED. */
export async function startOverTls(): Promise<RedisKind> {
  const single = await startSingle()
  const [node] = single.nodes
  const dir = await mkdtemp(join(tmpdir(), 'payments-tls-'))
  const { cert, key } = await makeLoopbackTls()
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  const port = await freePort()
  const files = ['tls-cert-file', certFile, 'tls-key-file', keyFile, 'tls-ca-cert-file', certFile]
  await node?.ask('CONFIG', 'SET', ...files, 'tls-auth-clients', 'no', 'tls-port', String(port))
  return {
    ...single,
    url: `rediss://localhost:${port}`,
    stop: async () => {
      await single.stop()
      await rm(dir, { recursive: true, force: true })
    }
  }
}

export async function startBehindSentinels(): Promise<RedisKind> {
  const servers = await ReplicatedRedis.start()
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
export async function startCluster(
  nodeTimeoutMs = 60_000,
  replicas = 0
): Promise<RedisKind & { cluster: RedisCluster }> {
  const cluster = await RedisCluster.start({ binary: await testBinary(), masters: 3, replicas, nodeTimeoutMs })
  return { url: cluster.url, nodes: cluster.nodes, cluster, stop: () => cluster.stop() }
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
  const redis = await connect(url, role, log)
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
