/**
 * Runs the service's own Lua scripts in this process, with the `redis` of a server's scripts.
 *
 * Texts outside are strings of JavaScript, and inside strings of bytes, as Lua has them.
 */
import { type CompiledLua, compileLua } from './lua-compiler.js'
import { LuaError, LuaTable, type LuaValue, ReplyError, tableWith, toText } from './lua-values.js'

/** What a command of Redis answers. */
export type Reply = string | number | null | readonly Reply[]
export type Call = (args: readonly string[]) => Reply

const compiled = new Map<string, CompiledLua>()
let server: Call = () => null

const call = (...args: LuaValue[]): LuaValue[] => [fromReply(server(args.map(toArgument)))]
const redis = tableWith(
  [],
  [
    ['call', call],
    // Redlock's scripts use it. No command of theirs fails.
    ['pcall', call],
    // The users of the simulation may run everything.
    ['acl_check_cmd', () => [true]]
  ]
)

/** Runs a script with its KEYS and ARGV. `call` is the server's `redis.call`. Throws what `call` throws. */
export function runLua(script: string, keys: readonly string[], args: readonly string[], call: Call): Reply {
  const before = server
  server = call
  try {
    const [first] = compile(script)(new LuaTable(keys.map(toBytes)), new LuaTable(args.map(toBytes)), redis, cjson)
    return toReply(first)
  } catch (error) {
    throw error instanceof LuaError ? new ReplyError(`ERR ${error.message}`) : error
  } finally {
    server = before
  }
}

/** The `cjson` of a server's scripts, without null. */
const cjson = tableWith([], [['decode', text => [fromJson(JSON.parse(fromBytes(toText(text))))]]])

function fromJson(value: unknown): LuaValue {
  if (typeof value === 'string') return toBytes(value)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return new LuaTable(value.map(fromJson))
  if (value === null || typeof value !== 'object') throw new Error('The simulation gives scripts no null.')
  return tableWith(
    [],
    Object.entries(value).map(([name, one]) => [name, fromJson(one)])
  )
}

function compile(script: string): CompiledLua {
  let work = compiled.get(script)
  if (work === undefined) {
    work = compileLua(toBytes(script))
    compiled.set(script, work)
  }
  return work
}

/** An argument of `redis.call`: text, or a number as Redis writes it. */
function toArgument(value: LuaValue): string {
  if (typeof value === 'string') return fromBytes(value)
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toPrecision(17)
  throw new ReplyError('ERR Lua redis lib command arguments must be strings or integers')
}

function fromReply(reply: Reply): LuaValue {
  if (reply === null) return false
  if (typeof reply === 'string') return toBytes(reply)
  return typeof reply === 'number' ? reply : new LuaTable(reply.map(fromReply))
}

/** What a script returns, by the rules of Redis: false is nil, true is 1, numbers are cut, tables end at their first nil. */
function toReply(value: LuaValue): Reply {
  if (typeof value === 'string') return fromBytes(value)
  if (typeof value === 'number') return Math.trunc(value)
  if (value === true) return 1
  if (!(value instanceof LuaTable)) return null
  const end = value.list.indexOf(undefined)
  return (end < 0 ? value.list : value.list.slice(0, end)).map(toReply)
}

const NOT_ASCII = /[^\0-\x7f]/

function toBytes(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

function fromBytes(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
}
