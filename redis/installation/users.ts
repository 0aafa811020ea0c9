/**
 * Whether the users of a Redis have exactly the permissions of this release's ACL file. `ACL DRYRUN` asks the server without
 * executing anything; the caller needs that permission only.
 */
import { Redis as Single } from 'ioredis'
import { messageOf } from '../../runtime/message-of.js'
import { mastersOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import type { DataServer } from '../connection/redis-errors.js'
import { ARGUMENTS_MAX, commandsIn, samplesOf, usersOf } from './acl-rights.js'

/** What an attacker with a login wants. Only the users of `+@admin` may use the second part. */
const DESTRUCTIVE = [['FLUSHALL'], ['FLUSHDB'], ['DEBUG', 'RELOAD'], ['MONITOR']]
const ADMINISTRATIVE = [
  ['CONFIG', 'SET', 'dir', '/'],
  ['ACL', 'SETUSER', 'default'],
  ['SHUTDOWN'],
  ['REPLICAOF', 'NO', 'ONE'],
  ['KEYS', '*']
]
/** A key that only `~*` allows, and the commands that would read or write it. */
const FOREIGN_KEY = 'key-of-no-pattern'
const DATA_COMMANDS = new Set(['GET', 'SET', 'DEL', 'HGET', 'HSET', 'HGETALL', 'XADD', 'ZADD', 'EXISTS'])

export interface UserFault {
  readonly user: string
  /** Commands of the file that the server refuses the user. */
  readonly lacks: readonly string[]
  /** What the server allows, and the file does not. */
  readonly exceeds: readonly string[]
}

/** What differs from the ACL file, of every master. `missing`: users that the server does not have. */
export async function userFaults(
  redis: Redis,
  server: DataServer
): Promise<{ readonly missing: readonly string[]; readonly faults: readonly UserFault[] }> {
  const users = [...usersOf(server)].filter(([name]) => name !== 'default')
  // Redis lets every client QUIT.
  const everyCommand = unique(users.flatMap(([, rules]) => commandsIn(rules))).filter(([name]) => name !== 'QUIT')
  const found = await Promise.all(
    mastersOf(redis).flatMap(node =>
      users.map(async ([user, rules]) => {
        if (!(await isThere(node, user))) return { user, isMissing: true, lacks: [], exceeds: [] }
        const [lacks, exceeds] = await Promise.all([
          lacksOf(node, user, rules),
          exceedsOf(node, user, rules, everyCommand)
        ])
        return { user, isMissing: false, lacks, exceeds }
      })
    )
  )
  return {
    missing: [...new Set(found.filter(({ isMissing }) => isMissing).map(({ user }) => user))],
    faults: found
      .filter(({ lacks, exceeds }) => lacks.length + exceeds.length > 0)
      .map(({ user, lacks, exceeds }) => ({ user, lacks, exceeds }))
  }
}

/** Whether a client without a password may read: the address of the server is then all that an attacker needs. */
export async function isOpenToAll(redis: Redis): Promise<boolean> {
  const answers = mastersOf(redis).map(async node => {
    const { options } = node
    const stranger = new Single({
      ...options,
      ...{ username: '', password: '', replyMapping: 'legacy' },
      ...{ lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null }
    })
    stranger.on('error', () => undefined)
    try {
      await stranger.connect()
      return (await stranger.ping()) === 'PONG'
    } catch {
      return false
    } finally {
      stranger.disconnect()
    }
  })
  return (await Promise.all(answers)).includes(true)
}

async function lacksOf(node: Redis, user: string, rules: readonly string[]): Promise<string[]> {
  const samples = samplesOf(rules)
  const tries = commandsIn(rules).map(async words => {
    for (const sample of samples.length === 0 ? [FOREIGN_KEY] : samples) {
      if (await may(node, user, words, sample)) return []
    }
    // Of all subcommands of a command such as CONFIG each knows this one.
    if (await may(node, user, [...words, 'HELP'], FOREIGN_KEY)) return []
    return [words.join(' ')]
  })
  return (await Promise.all(tries)).flat()
}

async function exceedsOf(
  node: Redis,
  user: string,
  rules: readonly string[],
  everyCommand: readonly string[][]
): Promise<string[]> {
  const [sample = FOREIGN_KEY] = samplesOf(rules)
  const own = new Set(commandsIn(rules).flatMap(words => [words.join(' '), words[0] ?? '']))
  const isCategorised = rules.some(rule => rule.startsWith('+@'))
  const others = isCategorised
    ? []
    : everyCommand.filter(words => !own.has(words.join(' ')) && !own.has(words[0] ?? ''))
  const forbidden = [...DESTRUCTIVE, ...(rules.includes('+@admin') ? [] : ADMINISTRATIVE), ...others]
  const allowed = unique(forbidden).map(async words =>
    (await may(node, user, words, sample)) ? [words.join(' ')] : []
  )
  const reads = rules.includes('~*')
    ? []
    : [...DATA_COMMANDS]
        .filter(name => own.has(name))
        .map(async name => ((await may(node, user, [name], FOREIGN_KEY)) ? [`${name} of any key`] : []))
  return (await Promise.all([...allowed, ...reads])).flat()
}

/** Whether a user may run a command with this key in the place of each argument, as many as the command wants. */
async function may(node: Redis, user: string, words: readonly string[], key: string): Promise<boolean> {
  const [command = '', ...given] = words
  for (let count = 0; count <= ARGUMENTS_MAX; count++) {
    const argv = [...given, ...Array<string>(count).fill(key)]
    const answer = await node.acl('DRYRUN', user, command, ...argv).catch(messageOf)
    if (!/wrong number of arguments/i.test(String(answer))) return answer === 'OK'
  }
  return false
}

async function isThere(node: Redis, user: string): Promise<boolean> {
  const answer = await node.acl('DRYRUN', user, 'PING').catch((error: unknown) => {
    if (/User .* not found/i.test(messageOf(error))) return null
    throw error
  })
  return answer !== null
}

function unique(commands: readonly (readonly string[])[]): string[][] {
  return [...new Map(commands.map(words => [words.join(' '), [...words]])).values()]
}
