/**
 * One Redis connection per role, each with the settings that its role needs.
 *
 * Writes are never resent by the client: a command whose reply was lost is rejected at once, and the caller, which
 * knows whether it is safe to repeat, decides. Blocking reads have a connection of their own, because everything
 * behind a blocked read waits for it.
 *
 * The durable Redis may be one server, a master that Sentinels name, or a Cluster (address.ts); a store can't tell.
 */
import { type ChainableCommander, Cluster, type RedisCommander, type RedisOptions, Redis as Single } from 'ioredis'
import type { Logger } from '../../runtime/log.js'
import { parseAddress, type RedisAddress, safeAddress } from '../../runtime/redis-address.js'
import { adviceOn, explainRefusal, isRefusal, type RedisVariable, reasonOf } from './redis-errors.js'
import { cutWhenSilent } from './silent-connections.js'

/** A connection as seen outside the wiring of this folder: the commands, in the shapes of RESP2. */
export interface Redis extends RedisCommander<{ type: 'default'; mapping: 'resp2' }> {
  readonly status: string
  multi(): ChainableCommander
  pipeline(): ChainableCommander
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  disconnect(): void
}

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
const RECONNECT_DELAY_MAX_MS = 500
const LOADING_RETRY_MS = 50
const START_DEADLINE_MS = 10_000

const roleOptions: Record<Role, RedisOptions> = {
  commands: { maxRetriesPerRequest: 0, commandTimeout: COMMAND_TIMEOUT_MS, enableOfflineQueue: false },
  secrets: { maxRetriesPerRequest: 0, commandTimeout: SECRETS_COMMAND_TIMEOUT_MS, enableOfflineQueue: false },
  blocking: { maxRetriesPerRequest: null },
  subscriber: { maxRetriesPerRequest: null },
  lock: { maxRetriesPerRequest: 0, commandTimeout: LOCK_COMMAND_TIMEOUT_MS, enableOfflineQueue: false }
}

const reconnectDelayMs = (attempt: number): number => Math.min(20 * 2 ** Math.min(attempt, 8), RECONNECT_DELAY_MAX_MS)

/**
 * Opens a connection and waits until it is usable once; after a loss it reconnects in the background and logs. `variable`
 * is the setting that names the server: for messages. Rejects with it, the address (never the password) and the reason:
 * at once when the server refuses the login, else when it can't be used within 10 s.
 */
export async function connect(
  url: string,
  role: Role,
  log: Logger,
  variable: RedisVariable = 'REDIS_URL',
  startDeadlineMs = START_DEADLINE_MS
): Promise<Redis> {
  const { redis, lastError } = open(url, role, log, variable)
  // retryStrategy reconnects until the deadline, also after a refused first connection.
  redis.connect().catch(() => undefined)
  await waitUntilReady(redis, `${variable} (${safeAddress(url)})`, startDeadlineMs, lastError)
  return redis
}

/**
 * Opens a connection to a server that may be down, and reconnects in the background. Commands are rejected at once while
 * it is down.
 */
export function connectInBackground(url: string, role: Role, log: Logger, variable: RedisVariable): Redis {
  const { redis } = open(url, role, log, variable)
  redis.connect().catch(() => undefined)
  return redis
}

/** A client that does not connect yet, and logs once when its server is lost and once when it is back. */
function open(
  url: string,
  role: Role,
  log: Logger,
  variable: RedisVariable
): { redis: Single | Cluster; lastError: () => Error | undefined } {
  const redis = clientFor(parseAddress(url), role, error => explainRefusal(error, variable, url))
  let isReported = false
  let lastError: Error | undefined
  redis.on('error', (error: Error) => {
    // The client does not pass refused logins to `reconnectOnError`.
    explainRefusal(nodeErrorIn(error), variable, url)
    lastError = error
    if (!isReported) log.warn({ err: error, role, redis: safeAddress(url) }, 'redis connection lost, reconnecting')
    isReported = true
  })
  redis.on('ready', () => {
    if (isReported) log.info({ role, redis: safeAddress(url) }, 'redis connection is back')
    isReported = false
  })
  return { redis, lastError: () => lastError }
}

/** The replies keep the shapes of RESP2, which the stores read. */
type Options = RedisOptions & { replyMapping: 'legacy' }

/** `onErrorReply` sees every error that the server answers, before the caller does. */
function clientFor(address: RedisAddress, role: Role, onErrorReply: (error: Error) => void): Single | Cluster {
  const options: Options = {
    ...roleOptions[role],
    replyMapping: 'legacy',
    lazyConnect: true,
    connectTimeout: 5_000,
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
    // Sentinels report a failover; the connection to the old master is closed at once.
    failoverDetector: true
  }
}

/** How often the slots of a lost master are looked up (ms). */
const SLOTS_AGAIN_MS = 300

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
  cluster.on('+node', (node: Single) => {
    prepared(node)
    // Replicas too: one of them may be the master in a second, and its first commands should not wait for a handshake.
    node.connect().catch(() => undefined)
  })
  let isLooking = false
  cluster.on('-node', () => {
    if (isLooking) return
    isLooking = true
    const look = (): void => {
      isLooking = false
      if (cluster.status === 'ready') cluster.refreshSlotsCache()
    }
    setTimeout(look, SLOTS_AGAIN_MS).unref()
  })
  return cluster
}

/** What every connection to one server gets, however it was found. */
function prepared(redis: Single): Single {
  redis.on('connect', () => joinEachTurn(redis.stream))
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

/** The client of a Cluster says that no node would do; why is in the last one's own error. */
function nodeErrorIn(error: Error): Error {
  return 'lastNodeError' in error && error.lastNodeError instanceof Error ? error.lastNodeError : error
}

/** `lastError` may say more than the silence, such as a certificate that is not trusted. `server` is for the message. */
async function waitUntilReady(
  redis: Single | Cluster,
  server: string,
  deadlineMs: number,
  lastError: () => Error | undefined
): Promise<void> {
  const ready = new Promise<void>(resolve => {
    redis.once('ready', () => resolve())
  })
  let timer: NodeJS.Timeout | undefined
  const failure = new Promise<never>((_, reject) => {
    const fail = (sentence: string): void => {
      redis.disconnect()
      reject(new Error(sentence))
    }
    timer = setTimeout(() => {
      const error = lastError()
      const reason = error === undefined ? '' : ` (${reasonOf(nodeErrorIn(error))})`
      fail(`The Redis of ${server} could not be used for ${deadlineMs} ms${reason}. ${adviceOn(reason)}`)
    }, deadlineMs)
    redis.on('error', error => {
      if (isRefusal(nodeErrorIn(error))) fail(nodeErrorIn(error).message)
    })
  })
  try {
    await Promise.race([ready, failure])
    // The client of a Cluster is ready before the connections to its nodes are.
    if (redis instanceof Cluster)
      await Promise.race([Promise.allSettled(redis.nodes().map(node => node.ping())), failure])
  } finally {
    clearTimeout(timer)
  }
}

/** Ends a connection after what was sent is answered; cuts it when the server does not. */
export async function disconnect(redis: Redis): Promise<void> {
  if (redis.status === 'end') return
  await Promise.race([redis.quit(), new Promise(resolve => setTimeout(resolve, 500).unref())]).catch(() => undefined)
  redis.disconnect()
}

/** The number of the database that a connection works in; a Cluster has one. */
export function databaseOf(redis: Redis): number {
  return redis instanceof Single ? (redis.options.db ?? 0) : 0
}
