/**
 * The proof that the Redis user of a process may do what the ACL file of this release gives it: a server whose ACL is
 * older than the code would deny a command in the middle of a payment (decision 21).
 */
import { readFileSync } from 'node:fs'
import type { Config } from '../../runtime/config.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { parseAddress } from '../../runtime/redis-address.js'
import { mastersOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { type DataServer, dataServers, isRefusal } from '../connection/redis-errors.js'
import { rejectAsUnreachable } from '../connection/unreachable.js'
import { requireCheck } from './require-check.js'

/** More than any command of the service takes. */
export const ARGUMENTS_MAX = 8
/**
 * ARGV[1] needs as JSON. Returns the labels of those of which no try is allowed; needs no right but EVAL. Redis 7.2 and
 * newer answer for a command with as many arguments as it takes only: the last one is repeated, or is left out where the
 * command takes none.
 */
const FIND_DENIED = `
local function may(try)
  local args = {unpack(try)}
  for _ = 0, ${ARGUMENTS_MAX} do
    local isKnown, answer = pcall(redis.acl_check_cmd, unpack(args))
    if isKnown then return answer end
    if not string.find(type(answer) == 'table' and answer.err or answer, 'number of args') then return false end
    table.insert(args, try[#try])
  end
  local isKnown, answer = pcall(redis.acl_check_cmd, unpack(try, 1, #try - 1))
  return isKnown and answer
end
local denied = {}
for _, need in ipairs(cjson.decode(ARGV[1])) do
  local isAllowed = false
  for _, try in ipairs(need.tries) do
    isAllowed = isAllowed or may(try)
  end
  if not isAllowed then table.insert(denied, need.label) end
end
return denied`

interface Need {
  readonly label: string
  /** Commands with arguments; one that is allowed will do. */
  readonly tries: readonly (readonly string[])[]
}

/** Requires the rights in the live environment. `isThere`: false while an optional server is down. */
export async function requireRights(
  redis: Redis,
  server: DataServer,
  context: Pick<ProcessContext, 'onReadyCheck'> & {
    readonly config: Pick<Config, 'environment' | 'redisUrl' | 'secretsRedisUrl'>
  },
  isThere = async (): Promise<boolean> => true
): Promise<void> {
  const { config } = context
  const url = server === 'REDIS_URL' ? config.redisUrl : config.secretsRedisUrl
  const check = async (): Promise<string | undefined> =>
    (await isThere()) ? await permissionProblem(redis, server, url) : undefined
  await requireCheck(`permissions (${server})`, check, context)
}

/** The sentence that says what the user of `url` may not do. A user that the ACL file does not have is not checked. */
async function permissionProblem(redis: Redis, server: DataServer, url: string): Promise<string | undefined> {
  const { username: user = 'default' } = parseAddress(url).login
  const rules = usersOf(server).get(user) ?? []
  // Without scripts there is no way to ask, and nothing that could be denied half way.
  const needs = JSON.stringify(rules.includes('+eval') ? needsOf(rules) : [])
  if (needs === '[]') return undefined
  const denied = Promise.all(mastersOf(redis).map(async node => (await node.eval(FIND_DENIED, 0, needs)) as string[]))
  const found = new Set((await denied.catch(rejectUnlessDenied(redis, server))).flat())
  if (found.size === 0) return undefined
  return `The user ${user} of ${server} is not allowed: ${[...found].join(', ')}. Load ${aclFileOf(server)} of this release (ACL LOAD), then start again.`
}

/** A server that cannot be asked is no missing permission: the advice would be wrong. */
function rejectUnlessDenied(redis: Redis, server: DataServer): (error: unknown) => string[][] {
  return error => (isRefusal(error) ? [['EVAL']] : rejectAsUnreachable(redis, server)(error))
}

/** The rules of each user of the ACL file of this release, by name. */
export function usersOf(server: DataServer): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL(`../../../${aclFileOf(server)}`, import.meta.url), 'utf8')
  const lines = text.split('\n').map(line => line.split(' '))
  return new Map(lines.filter(([word]) => word === 'user').map(([, name = '', ...rules]) => [name, rules]))
}

/** The file with the users of a server. */
export function aclFileOf(server: DataServer): string {
  return `ops/redis/${dataServers[server].aclFile}`
}

/** What the rules of a user give: its commands, and the keys that its scripts change. */
function needsOf(rules: readonly string[]): Need[] {
  const commands = commandsIn(rules).map(words => words.join(' '))
  const keysAndChannels = samplesOf(rules)
  const samples = keysAndChannels.length === 0 ? [''] : keysAndChannels
  const patterns = rules.filter(rule => rule.startsWith('~')).map(rule => rule.slice(1))
  return [
    // Some commands are allowed for some keys or channels only.
    ...commands.map(label => ({ label, tries: samples.map(sample => [...label.split(' '), sample]) })),
    ...patterns.map(label => ({ label: `keys ${label}`, tries: [['EVAL', '', '1', sampleOf(label)]] }))
  ]
}

/** The commands that the rules name, in words such as CONFIG and GET; categories are left out. */
export function commandsIn(rules: readonly string[]): string[][] {
  return rules.filter(rule => /^\+[a-z]/.test(rule)).map(rule => rule.slice(1).toUpperCase().split('|'))
}

/** A key or channel for each pattern of the rules. */
export function samplesOf(rules: readonly string[]): string[] {
  return rules.filter(rule => /^([~&]|%R~|%W~)/.test(rule)).map(rule => sampleOf(rule.replace(/^(%[RW])?[~&]/, '')))
}

function sampleOf(pattern: string): string {
  return pattern.replaceAll('*', '0')
}
