/**
 * What an address of a Redis may look like, and what it means:
 *
 *   redis://user:password@host:port/db                          one server
 *   redis-sentinel://user:password@host:port,host:port/name     the master that these Sentinels name
 *   redis-cluster://user:password@host:port,host:port           a Cluster; one node is enough to find the others
 *
 * `rediss…` is the same over TLS. The Sentinels' own login, where they have one, follows as
 * `?sentinelUsername=…&sentinelPassword=…`.
 */
import { parsedUrl } from './parsed-url.js'

export interface HostPort {
  readonly host: string
  readonly port: number
}

export interface Login {
  readonly username?: string
  readonly password?: string
}

export type RedisAddress =
  | { readonly kind: 'single'; readonly url: string; readonly login: Login; readonly isTls: boolean }
  | {
      readonly kind: 'sentinel'
      readonly nodes: readonly HostPort[]
      readonly name: string
      readonly db: number
      readonly login: Login
      readonly sentinelLogin: Login
      readonly isTls: boolean
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostPort[]; readonly login: Login; readonly isTls: boolean }

const MANY = /^redis(s?)-(cluster|sentinel):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^?/]*))?(?:\/(\d+))?\/?(?:\?(.*))?$/
/** Of one server: login, host with port, database, and parameters of the client. */
const ONE = /^rediss?:\/\/(?:([^@/?#]*)@)?[^@/?#]+(?:\/\d*)?(?:\?[^@#]*)?$/
const ENCODE = 'Its password must be percent-encoded: @ as %40, / as %2F, # as %23, ? as %3F, % as %25.'
const EXAMPLES = 'redis-cluster://host:port,host:port or redis-sentinel://host:port,host:port/name'

/** Reads an address. Throws a sentence without any password when it is invalid. */
export function parseAddress(url: string): RedisAddress {
  if (!/^rediss?-/.test(url)) {
    // The client would accept any text, and look up a piece of a password as a host name.
    const parsed = /^rediss?:\/\/./.test(url) ? parsedUrl(url) : null
    if (parsed === null) throw unreadable(url, `redis://host:port, ${EXAMPLES}`)
    const [isOne, userinfo] = ONE.exec(url) ?? []
    if (isOne === undefined) throw unreadable(url, `redis://user:password@host:port/database, ${EXAMPLES}`)
    return { kind: 'single', url, login: parseLogin(userinfo), isTls: parsed.protocol === 'rediss:' }
  }
  const [, s, kind, userinfo, hosts = '', name = '', db, query] = MANY.exec(url) ?? []
  const nodes = hosts.split(',').map(parseHostPort)
  const isTls = s === 's'
  const login = parseLogin(userinfo)
  if (kind === undefined || nodes.includes(null)) throw unreadable(url, EXAMPLES)
  const known = nodes.filter(node => node !== null)
  if (kind === 'cluster') return { kind, nodes: known, login, isTls }
  if (name === '') throw new Error('The address of Sentinels must end in the name of the master: …/name.')
  const parameters = new URLSearchParams(query)
  const sentinelLogin = loginOf(parameters.get('sentinelUsername'), parameters.get('sentinelPassword'))
  return { kind: 'sentinel', nodes: known, name, db: Number(db ?? 0), login, sentinelLogin, isTls }
}

/** The address of one server of the group that `url` names, with the same login and the same encryption. */
export function addressOfServer(url: string, { host, port }: HostPort): string {
  const { login, isTls } = parseAddress(url)
  const server = new URL(`${isTls ? 'rediss' : 'redis'}://${host.includes(':') ? `[${host}]` : host}:${port}`)
  server.username = encodeURIComponent(login.username ?? '')
  server.password = encodeURIComponent(login.password ?? '')
  return server.href
}

/** Hosts and ports of an address, without credentials: for logs and messages. */
export function safeAddress(url: string): string {
  try {
    const address = parseAddress(url)
    if (address.kind === 'single') return new URL(url).host
    const hosts = address.nodes.map(({ host, port }) => `${host}:${port}`).join(',')
    return address.kind === 'sentinel' ? `${hosts} (Sentinels of ${address.name})` : `${hosts} (Cluster)`
  } catch {
    return 'an unreadable URL'
  }
}

function parseHostPort(text: string): HostPort | null {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text.trim()) ?? []
  const host = bracketed ?? plain
  return host === undefined ? null : { host, port: Number(port) }
}

function parseLogin(userinfo: string | undefined): Login {
  if (userinfo === undefined) return {}
  const colon = userinfo.indexOf(':')
  if (colon === -1) return loginOf(userinfo, null)
  try {
    return loginOf(decodeURIComponent(userinfo.slice(0, colon)), decodeURIComponent(userinfo.slice(colon + 1)))
  } catch {
    throw new Error(`A Redis address can't be read. ${ENCODE}`)
  }
}

/** An @ that is not where a login ends belongs to a password, or ends one. */
function unreadable(url: string, examples: string): Error {
  const sentence = `A Redis address must look like ${examples}.`
  return new Error(url.includes('@') ? `${sentence} ${ENCODE}` : sentence)
}

function loginOf(username: string | null, password: string | null): Login {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) }
}
