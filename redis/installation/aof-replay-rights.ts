/**
 * Whether the durable Redis keeps its data at a restart, as far as its users decide about that.
 *
 * Redis replays the MULTI/EXEC blocks of its append-only file as the user `default`, and drops each command which that
 * user may not run: silently, and then it is in use again. Each script is such a block. Later versions of Redis and Valkey
 * don't check (docs/REDIS.md); a default user that can't log in, but may do everything, is right for all of them.
 */
import type { Config } from '../../runtime/config.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { askMasters } from '../connection/unreachable.js'

/** A key that no pattern but `~*` allows. */
const KEY = 'replay'

/** What blocks of the append-only file are made of: the writes of the scripts, and what Redis makes of some of them. */
export const replayedCommands: readonly (readonly [name: string, ...args: string[]])[] = [
  ['SELECT', '0'],
  ['SET', KEY, ''],
  ['DEL', KEY],
  ['UNLINK', KEY],
  ['PEXPIREAT', KEY, '1'],
  ['HSET', KEY, 'field', ''],
  ['HSETNX', KEY, 'field', ''],
  ['HDEL', KEY, 'field'],
  ['HINCRBY', KEY, 'field', '1'],
  ['RPUSH', KEY, 'item'],
  ['LPOP', KEY],
  ['LSET', KEY, '0', 'item'],
  ['RPOP', KEY],
  ['ZADD', KEY, '1', 'member'],
  ['ZREM', KEY, 'member'],
  ['ZREMRANGEBYRANK', KEY, '0', '1'],
  ['ZREMRANGEBYSCORE', KEY, '0', '1'],
  ['XADD', KEY, '1-1', 'field', ''],
  ['XDEL', KEY, '1-1'],
  ['XACK', KEY, 'group', '1-1'],
  ['XCLAIM', KEY, 'group', 'consumer', '0', '1-1'],
  ['XGROUP', 'SETID', KEY, 'group', '0'],
  ['INCR', KEY],
  ['SADD', KEY, 'member'],
  ['SREM', KEY, 'member']
]

/**
 * Throws in the live environment when the default user may not run everything. Once a process has started it is a
 * warning: the danger is the next restart of Redis, and a replica that takes over must not stop all processes at once.
 */
export async function requireReplay(
  redis: Redis,
  { config, onWarning }: Pick<ProcessContext, 'onWarning'> & { readonly config: Pick<Config, 'environment'> }
): Promise<void> {
  const check = (): Promise<string | undefined> => replayProblem(redis)
  const problem = config.environment === 'live' ? await check() : undefined
  if (problem !== undefined) throw new Error(problem)
  onWarning('replay', check)
}

/** The sentence about a default user that can't replay the append-only file, or undefined. Of a Cluster all masters are asked. */
export async function replayProblem(redis: Redis): Promise<string | undefined> {
  const refusedBy = async (node: Redis): Promise<string[]> => {
    const answers = await Promise.all(replayedCommands.map(command => node.acl('DRYRUN', 'default', ...command)))
    return replayedCommands.filter((_, at) => answers[at] !== 'OK').map(([name]) => name)
  }
  const refused = (await askMasters(redis, refusedBy)).flat()
  if (refused.length === 0) return undefined
  return (
    `The Redis of REDIS_URL loses payments at its next restart: it replays its append-only file as the user "default", who may not run ${[...new Set(refused)].join(', ')}. ` +
    'Run `ACL SETUSER default off resetpass ~* &* +@all` on every server, and write the same into its ACL file. ' +
    'If a server was restarted before that, its append-only file still has what is missing: stop all processes, do not rewrite the file (BGREWRITEAOF, auto-aof-rewrite-percentage), and follow docs/REDIS.md, "Users and the replay of the append-only file".'
  )
}
