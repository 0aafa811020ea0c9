/** Tells errors that mean "Redis is unavailable" from mistakes in our commands. */
import { messageOf } from '../../runtime/message-of.js'
import { parseAddress, safeAddress } from '../../runtime/redis-address.js'

/** The durable Redis is unavailable. Whether the command was executed is unknown. */
export class RedisUnavailable extends Error {}

/** Nothing was written: what the durable Redis holds may not be built on until an operator has acted. A repeat does not help soon. */
export class MoneyWaits extends RedisUnavailable {}

/**
 * Replies of a server that is loading, failing over, full, or unable to write its append-only file.
 * NOGROUP: a consumer group is lost, and is made again. EXECABORT: one of these, or a refusal, met a command of a transaction.
 */
const UNAVAILABLE_REPLY =
  /^(NOGROUP|LOADING|READONLY|MISCONF|OOM|EXECABORT|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|BUSY|MOVED|ASK|UNBLOCKED) |^ERR max number of clients/

/** Sentences and names of the client for a connection that is lost, refused or too slow. */
const LOST_CONNECTION =
  /Connection is closed|Stream isn't writeable|Command timed out|MaxRetriesPerRequest|ClusterAllFailed|Connection is in|Cluster isn't ready|Too many Cluster redirections|Cluster is ended|startup nodes is available/
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN'
])

/** The two Redis of an installation, by their settings: what docs and findings call each, and the file of its users. */
export const dataServers = {
  REDIS_URL: { name: 'durable redis', aclFile: 'durable.acl' },
  SECRETS_REDIS_URL: { name: 'memory-only redis', aclFile: 'memory-only.acl' }
} as const
export type DataServer = keyof typeof dataServers

/** The settings that name a Redis. Lock servers have the users of the memory-only one. */
export type RedisVariable = DataServer | 'REDLOCK_URLS'

/** The server refuses a login, a command or a key, until an operator mends its users. The last two are about scripts. */
const REFUSAL = /^(?:NOAUTH|WRONGPASS|NOPERM) |^ERR The user executing the script can't|ACL failure in script/

/** Whether a server refuses what this user wants. */
export function isRefusal(error: unknown): boolean {
  return REFUSAL.test(messageOf(error))
}

/** Adds to a refusal which server and user it is about, and what to do. Redis itself names neither. */
export function explainRefusal(error: Error, variable: RedisVariable, url: string): void {
  const advice = ' (docs/SECURITY.md, Redis)'
  if (!isRefusal(error) || error.message.endsWith(advice)) return
  const { username = 'default' } = parseAddress(url).login
  const { aclFile } = dataServers[variable === 'REDLOCK_URLS' ? 'SECRETS_REDIS_URL' : variable]
  const who = `The Redis of ${variable} (${safeAddress(url)}) refused the user "${username}"`
  error.message = `${error.message}. ${who}: correct user and password in ${variable}, or load ${aclFile} of this release into that server${advice}`
}

/**
 * Why a command failed, for /readyz and the operator. The client's own message about a lost or slow connection does not help
 * ("Stream isn't writeable and enableOfflineQueue options is false"); `lastOfConnection` does: `lastErrorOf` its connection.
 */
export function reasonOf(error: unknown, lastOfConnection?: Error): string {
  const message = messageOf(error)
  if (message.startsWith('Command timed out')) return 'Redis did not answer in time'
  if (!LOST_CONNECTION.test(`${nameOf(error)} ${message}`)) return CLOSED.test(message) ? CLOSED_AT_ONCE : message
  const said = lastOfConnection === undefined ? '' : `: ${reasonOf(lastOfConnection)}`
  return `there is no connection to Redis${said}`
}

/**
 * A server whose `maxclients` is reached says so to a new client, and closes the connection. Its words are lost with the
 * reset, because the client has sent its login by then.
 */
const CLOSED = /\b(?:EPIPE|ECONNRESET)\b|socket disconnected before secure TLS/
const CLOSED_AT_ONCE = 'it closes connections, as when its maxclients is reached'

/** Whether this reason says that a server takes no further client. */
export function isFullOfClients(reason: string): boolean {
  return /max number of clients|maxclients/.test(reason)
}

/** What to do about a server that could not be used for this reason. */
export function adviceOn(reason: string): string {
  if (/does not match certificate/.test(reason))
    return 'Use a host name that its certificate has, or give it a certificate with this name.'
  if (/certificate|issuer/.test(reason))
    return 'Name the file of the authority that signed its certificate in NODE_EXTRA_CA_CERTS (docs/DEPLOYING.md), and restart.'
  if (isFullOfClients(reason)) return 'Raise its maxclients, or find who holds its connections (CLIENT LIST).'
  if (/wrong version number|packet length/.test(reason)) return 'It speaks no TLS at this port: correct the URL.'
  return 'Start it, or correct the URL.'
}

/** True while any command would fail. The outcome of this one is unknown. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof RedisUnavailable || isRefusal(error)) return true
  if (error.name === 'ReplyError') return UNAVAILABLE_REPLY.test(error.message)
  if ('code' in error && typeof error.code === 'string' && SOCKET_CODES.has(error.code)) return true
  return LOST_CONNECTION.test(`${nameOf(error)} ${error.message}`)
}

/**
 * A key has another type than the service gives it: only an operator can mend that. What waits must not keep others waiting,
 * since the other keys are well.
 */
export function isWrongType(error: unknown): boolean {
  return messageOf(error).startsWith('WRONGTYPE ')
}

/** True when a request should be answered 503: Redis is unavailable, or can't do this with the key that it has. */
export function isRedisUnusable(error: unknown): boolean {
  return isRedisUnavailable(error) || isWrongType(error)
}

/** True when nothing was answered: other errors that mean "unavailable" are a server's own words. */
export function isUnanswered(error: unknown): boolean {
  return isRedisUnavailable(error) && !(error instanceof RedisUnavailable) && (error as Error).name !== 'ReplyError'
}

/** Some errors of the client say in their names alone what they are. */
function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.constructor.name}` : ''
}
