/**
 * One Redis connection per role, each with the settings that its role needs.
 *
 * Writes are never resent by the client: a command whose reply was lost is rejected at once, and the caller, which
 * knows whether it is safe to repeat, decides. Blocking reads have a connection of their own, because everything
 * behind a blocked read waits for it.
 *
 * The durable Redis may be one server, a master that Sentinels name, or a Cluster (runtime/redis-address.ts); a store can't tell.
 */
import { type ChainableCommander, Cluster, type RedisCommander, Redis as Single } from 'ioredis'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { parseAddress, safeAddress } from '../../runtime/redis-address.js'
import { NoAnswerInTime, withTimeout } from '../../runtime/with-timeout.js'
import { createClient, RECONNECT_DELAY_MAX_MS, type Role } from './clients.js'
import { adviceOn, explainRefusal, isRefusal, type RedisVariable, reasonOf } from './redis-errors.js'
import { endWhenStuck } from './stuck-clients.js'
import { keepSubscribed } from './subscriptions.js'
import { nameWrongTypeOfCommand } from './wrong-types.js'

/** A connection as seen outside the wiring of this folder: the commands, in the shapes of RESP2. */
export interface Redis extends RedisCommander<{ type: 'default'; mapping: 'resp2' }> {
  readonly status: string
  multi(): ChainableCommander
  pipeline(): ChainableCommander
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  disconnect(): void
}

export type { Role } from './clients.js'

const START_DEADLINE_MS = 10_000

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
  const redis = connectInBackground(url, role, log, variable)
  await waitUntilReady(redis, `${variable} (${safeAddress(url)})`, startDeadlineMs)
  return redis
}

/**
 * Opens a connection to a server that may be down, and reconnects in the background, also after a refused first connection.
 * Roles that fail fast reject commands while it is down. Logs once when the server is lost and once when it is back.
 */
export function connectInBackground(url: string, role: Role, log: Logger, variable: RedisVariable): Single | Cluster {
  const fresh = (): Single | Cluster =>
    createClient(parseAddress(url), role, error => {
      explainRefusal(error, variable, url)
      nameWrongTypeOfCommand(error)
    })
  const redis = fresh()
  // Each server and role has its own pace.
  const ofRole = log.child({ role, redis: safeAddress(url) })
  let isReported = false
  redis.on('error', (error: Error) => {
    // The client does not pass refused logins to `reconnectOnError`.
    explainRefusal(nodeErrorIn(error), variable, url)
    lastErrors.set(redis, nodeErrorIn(error))
    isReported ||= warnRateLimited(ofRole, { err: error }, 'redis connection lost, reconnecting')
  })
  redis.on('ready', () => {
    if (isReported) ofRole.info('redis connection is back')
    isReported = false
    lastErrors.delete(redis)
  })
  const stopWatch = endWhenStuck(redis, fresh, `${variable} (${safeAddress(url)})`)
  const stopSubscriptions = role === 'subscriber' ? keepSubscribed(redis) : undefined
  keepOpen(redis, () => {
    stopWatch()
    stopSubscriptions?.()
  })
  redis.connect().catch(() => undefined)
  return redis
}

/** What the server of a connection, or the way to it, said last; forgotten once the connection is usable. */
const lastErrors = new WeakMap<object, Error>()

/** Why there is no connection, where that is known. It may say more than the error of a command. */
export function lastErrorOf(redis: Redis): Error | undefined {
  return lastErrors.get(redis)
}

/** What is to stop when this process closes a client. */
const closings = new WeakMap<object, () => void>()

/**
 * Connects again when the client ends although this process did not close it: as when a failover is reported while it
 * asks the Sentinels. `onClose` is called when this process closes it.
 */
function keepOpen(redis: Single | Cluster, onClose: () => void): void {
  let isClosed = false
  const close = (): void => {
    isClosed = true
    onClose()
  }
  closings.set(redis, close)
  const disconnectClient = redis.disconnect.bind(redis)
  redis.disconnect = (isReconnecting = false) => {
    if (!isReconnecting) close()
    disconnectClient(isReconnecting)
  }
  redis.on('end', () => {
    const again = (): void => {
      if (!isClosed) redis.connect().catch(() => undefined)
    }
    setTimeout(again, RECONNECT_DELAY_MAX_MS).unref()
  })
}

/** The client of a Cluster says that no node would do; why is in the last one's own error. */
function nodeErrorIn(error: Error): Error {
  return 'lastNodeError' in error && error.lastNodeError instanceof Error ? error.lastNodeError : error
}

/** The last error may say more than the silence, such as a certificate that is not trusted. `server` is for the message. */
async function waitUntilReady(redis: Single | Cluster, server: string, deadlineMs: number): Promise<void> {
  let onError = (_: Error): void => undefined
  const refusal = new Promise<never>((_, reject) => {
    onError = error => {
      if (isRefusal(nodeErrorIn(error))) reject(new Error(nodeErrorIn(error).message))
    }
  })
  // For the start alone: later a refusal is one more reason to try again.
  redis.on('error', onError)
  try {
    await withTimeout(deadlineMs, Promise.race([untilReady(redis), refusal]))
  } catch (error) {
    const last = lastErrors.get(redis)
    redis.disconnect()
    if (!(error instanceof NoAnswerInTime)) throw error
    const reason = last === undefined ? '' : ` (${reasonOf(last)})`
    throw new Error(`The Redis of ${server} could not be used for ${deadlineMs} ms${reason}. ${adviceOn(reason)}`)
  } finally {
    redis.off('error', onError)
  }
}

async function untilReady(redis: Single | Cluster): Promise<void> {
  await new Promise(resolve => redis.once('ready', resolve))
  // The client of a Cluster is ready before the connections to its nodes are.
  if (redis instanceof Cluster) await Promise.allSettled(redis.nodes().map(node => node.ping()))
}

/** Ends a connection after what was sent is answered; cuts it when the server does not. */
export async function disconnect(redis: Redis): Promise<void> {
  closings.get(redis)?.()
  if (redis.status === 'end') return
  await Promise.race([redis.quit(), new Promise(resolve => setTimeout(resolve, 500).unref())]).catch(() => undefined)
  redis.disconnect()
}

/** The number of the database that a connection works in; a Cluster has one. */
export function databaseOf(redis: Redis): number {
  return redis instanceof Single ? (redis.options.db ?? 0) : 0
}
