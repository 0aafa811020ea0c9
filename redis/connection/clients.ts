/** The clients behind connections, with the settings that each role needs. Nothing here connects. */
import { Cluster, type RedisOptions, Redis as Single } from 'ioredis'
import type { RedisAddress } from '../../runtime/redis-address.js'
import { keepMastersKnown } from './cluster-masters.js'
import { cutWhenSilent } from './silent-connections.js'

/**
 * - `commands`: scripts and reads; fails fast, never resends
 * - `secrets`: the same at the memory-only Redis, which has no disk to wait for: `SECRETS_COMMAND_TIMEOUT_MS`
 * - `blocking`: XREADGROUP BLOCK; waits for the server to come back (blocking-reads.ts)
 * - `subscriber`: pub/sub; resubscribes after a reconnect
 * - `lock`: Redlock; every command ends within `LOCK_COMMAND_TIMEOUT_MS`
 */
export type Role = 'commands' | 'secrets' | 'blocking' | 'subscriber' | 'lock'

/** A write that takes longer has an unknown outcome; its caller reads. Above the slowest fsync that is worth waiting for. */
const COMMAND_TIMEOUT_MS = 5_000
const SECRETS_COMMAND_TIMEOUT_MS = 2_000
const LOCK_COMMAND_TIMEOUT_MS = 1_000
/** For TCP and TLS. A server that was frozen has dropped some of the SYNs, which the kernel repeats after 1 and 3 s. */
const CONNECT_TIMEOUT_MS = 3_000
/** A Sentinel that does not answer keeps the client from asking the next one. */
const SENTINEL_TIMEOUT_MS = 2_000
const SENTINEL_RECONNECT_MS = 2_000
export const RECONNECT_DELAY_MAX_MS = 500
const LOADING_RETRY_MS = 50

const failsFast = { maxRetriesPerRequest: 0, enableOfflineQueue: false }
const roleOptions: Record<Role, RedisOptions> = {
  commands: { ...failsFast, commandTimeout: COMMAND_TIMEOUT_MS },
  secrets: { ...failsFast, commandTimeout: SECRETS_COMMAND_TIMEOUT_MS },
  blocking: { maxRetriesPerRequest: null },
  // subscriptions.ts subscribes again: the client would forget a channel that the server refuses once.
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: false },
  lock: { ...failsFast, commandTimeout: LOCK_COMMAND_TIMEOUT_MS }
}

const reconnectDelayMs = (attempt: number): number => Math.min(20 * 2 ** Math.min(attempt, 8), RECONNECT_DELAY_MAX_MS)

/** The replies keep the shapes of RESP2, which the stores read. */
type Options = RedisOptions & { replyMapping: 'legacy' }

/**
 * A client that is closed during a TLS handshake gets two errors: the certificate that it does not trust, and the answer of the
 * server to the end of the stream. It listens for the first one, and an error without a listener ends the process.
 */
const { disconnect } = Single.prototype
const ignore = (): void => undefined
Single.prototype.disconnect = function disconnectQuietly(this: Single, isReconnecting?: boolean): void {
  // Once for each stream: the client may be told again and again.
  this.stream?.off('error', ignore).on('error', ignore)
  disconnect.call(this, isReconnecting)
}

/** `onErrorReply` sees every error that the server answers, before the caller does. */
export function createClient(
  address: RedisAddress,
  role: Role,
  onErrorReply: (error: Error) => void
): Single | Cluster {
  const options: Options = {
    ...roleOptions[role],
    replyMapping: 'legacy',
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A server that still loads its data says "a second" however close it is; the client would wait that long.
    maxLoadingRetryTime: LOADING_RETRY_MS,
    connectionName: role,
    // Older servers and narrow ACLs refuse CLIENT SETINFO, which nothing here needs.
    disableClientInfo: true,
    reconnectOnError: error => {
      onErrorReply(error)
      // An old master that is a replica now refuses writes: ask the Sentinels again, and resend nothing.
      return address.kind === 'sentinel' && error.message.startsWith('READONLY')
    }
  }
  switch (address.kind) {
    case 'single':
      return prepared(new Single(address.url, { ...options, retryStrategy: reconnectDelayMs }))
    case 'sentinel':
      return prepared(new Single({ ...options, ...sentinelOptions(address), retryStrategy: reconnectDelayMs }))
    case 'cluster':
      return clusterFor(address, options)
  }
}

function sentinelOptions(address: RedisAddress & { kind: 'sentinel' }): Omit<RedisOptions, 'replyMapping'> {
  const { nodes, name, db, login, sentinelLogin, isTls } = address
  return {
    sentinels: nodes.map(node => ({ ...node })),
    name,
    db,
    ...login,
    ...(sentinelLogin.username === undefined ? {} : { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password === undefined ? {} : { sentinelPassword: sentinelLogin.password }),
    ...(isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    sentinelRetryStrategy: reconnectDelayMs,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    // Sentinels report a failover; the connection to the old master is closed at once. One that was restarted is listened to
    // again after a pause, which is a minute by default.
    failoverDetector: true,
    sentinelReconnectStrategy: () => SENTINEL_RECONNECT_MS
  }
}

function clusterFor({ nodes, login, isTls }: RedisAddress & { kind: 'cluster' }, options: Options): Cluster {
  const { enableOfflineQueue = true, ...redisOptions } = options
  const cluster = new Cluster([...nodes], {
    redisOptions: { ...redisOptions, ...login, ...(isTls ? { tls: {} } : {}) },
    lazyConnect: true,
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    // Certificates name hosts, and Cluster nodes name themselves: no lookup in between.
    ...(isTls ? { dnsLookup: (host, done) => done(null, host) } : {}),
    // Nothing is sent twice: what a lost connection took with it may have been done.
    retryDelayOnFailover: 0
  })
  // Replicas too: one of them may be the master in a second, and its first commands should not wait for a handshake.
  const connectNode = (node: Single): void => {
    if (node.status === 'wait') node.connect().catch(() => undefined)
  }
  cluster.on('+node', (node: Single) => {
    prepared(node)
    // Before that the client asks any one of them for the state of the Cluster. One that is connecting would not be asked, and
    // the client would give up all of them and begin anew.
    if (cluster.status === 'ready') connectNode(node)
  })
  cluster.on('ready', () => cluster.nodes().forEach(connectNode))
  keepMastersKnown(cluster)
  return cluster
}

/** What every connection to one server gets, however it was found. */
function prepared(redis: Single): Single {
  redis.on('connect', () => joinEachTurn(redis.stream))
  redis.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
    // After a refused SELECT the client would work on in database 0.
    if (error.command?.name === 'select') redis.disconnect(true)
  })
  return cutWhenSilent(redis)
}

/**
 * Sends all commands of one turn of the event loop in one system call and as one text. Under load, a system call for each
 * command, or a list of them for one system call, is a good part of the CPU of a process.
 */
function joinEachTurn(stream: Single['stream']): void {
  const write = stream.write.bind(stream)
  const end = stream.end.bind(stream)
  let waiting = ''
  const flush = (): void => {
    if (waiting === '') return
    const commands = waiting
    waiting = ''
    write(commands)
  }
  stream.write = ((...args: Parameters<typeof write>) => {
    const [chunk] = args
    if (typeof chunk !== 'string' || args.length > 1) {
      flush()
      return write(...args)
    }
    if (waiting === '') setImmediate(flush)
    waiting += chunk
    // The client asks for no more than this: it holds its commands until they are answered.
    return true
  }) as typeof stream.write
  stream.end = ((...args: Parameters<typeof end>) => {
    flush()
    return end(...args)
  }) as typeof stream.end
}
