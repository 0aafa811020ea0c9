/** The Lua scripts: one atomic step per file in redis/lua/, addressed by its hash, loaded when a server lacks it. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isStep, type ScriptName, withCrashPoints } from '../runtime/crash-points.js'
import type { Redis } from './connections.js'

/** Runs a script with its KEYS and ARGV; the raw answer is for the caller's parser. */
export type Script = (redis: Redis, keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

const folder = new URL('../../redis/lua/', import.meta.url)

/** The text of `redis/lua/<name>.lua`. Throws when there is no such script. */
export function loadLua(name: string): string {
  return readFileSync(new URL(`${name}.lua`, folder), 'utf8')
}

/** The script `redis/lua/<name>.lua`, ready to run on any connection, between its crash points. */
export function defineScript(name: ScriptName): Script {
  const lua = loadLua(name)
  const hash = createHash('sha1').update(lua).digest('hex')
  const run: Script = async (redis, keys, args) => {
    try {
      return await redis.evalsha(hash, keys.length, ...keys, ...args)
    } catch (error) {
      // The server was restarted or is new: EVAL runs the script and keeps it. Nothing ran before this answer.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return await redis.eval(lua, keys.length, ...keys, ...args)
    }
  }
  return isStep(name) ? (redis, keys, args) => withCrashPoints(name, () => run(redis, keys, args)) : run
}
