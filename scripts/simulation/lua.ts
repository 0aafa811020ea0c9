/**
 * Runs the service's own Lua scripts, in this process: fengari with the `redis` of a server's scripts.
 *
 * Redis speaks Lua 5.1 and fengari 5.3. What the scripts use of the difference is bridged here: `unpack`, and numbers,
 * which 5.3 divides into whole ones and others; both directions of a call cut them to whole ones, as Redis does.
 */
import fengari from 'fengari'

const { lua, lauxlib, lualib } = fengari
type State = Parameters<typeof lua.lua_gettop>[0]

/** What a command of Redis answers. */
export type Reply = string | number | null | readonly Reply[]
export type Call = (args: readonly string[]) => Reply

/** An answer that begins with `ERR` and the like. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

const state = lauxlib.luaL_newstate()
const compiled = new Map<string, Uint8Array>()
let server: Call = () => null
prepare(state)

/** Runs a script with its KEYS and ARGV. `call` is the server's `redis.call`. Throws what `call` throws. */
export function runLua(script: string, keys: readonly string[], args: readonly string[], call: Call): Reply {
  const before = server
  server = call
  failure = undefined
  const top = lua.lua_gettop(state)
  try {
    setStrings('KEYS', keys)
    setStrings('ARGV', args)
    lua.lua_getglobal(state, compile(script))
    if (lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK) throw failure ?? new ReplyError(`ERR ${textAt(-1)}`)
    return replyAt(-1)
  } finally {
    server = before
    lua.lua_settop(state, top)
  }
}

/** What a `redis.call` threw: it must come out of the script as it went in. */
let failure: unknown

function prepare(L: State): void {
  lualib.luaL_openlibs(L)
  const call = (): number => {
    const args: string[] = []
    for (let i = 1; i <= lua.lua_gettop(L); i++) args.push(argumentAt(i))
    try {
      pushReply(server(args))
    } catch (error) {
      failure = error
      lua.lua_pushstring(L, bytes('a command failed'))
      lua.lua_error(L)
    }
    return 1
  }
  lua.lua_createtable(L, 0, 2)
  for (const name of ['call', 'pcall']) {
    lua.lua_pushcfunction(L, call)
    lua.lua_setfield(L, -2, bytes(name))
  }
  lua.lua_setglobal(L, bytes('redis'))
  const bridge = bytes('unpack = table.unpack; redis.acl_check_cmd = function() return true end')
  lauxlib.luaL_loadbuffer(L, bridge, bridge.length, bytes('bridge'))
  lua.lua_call(L, 0, 0)
}

function compile(script: string): Uint8Array {
  let name = compiled.get(script)
  if (name === undefined) {
    name = bytes(`script ${compiled.size}`)
    const code = bytes(script)
    if (lauxlib.luaL_loadbuffer(state, code, code.length, name) !== lua.LUA_OK) {
      throw new ReplyError(`ERR Error compiling script: ${textAt(-1)}`)
    }
    lua.lua_setglobal(state, name)
    compiled.set(script, name)
  }
  return name
}

function setStrings(name: string, values: readonly string[]): void {
  lua.lua_createtable(state, values.length, 0)
  values.forEach((value, index) => {
    lua.lua_pushstring(state, bytes(value))
    lua.lua_rawseti(state, -2, index + 1)
  })
  lua.lua_setglobal(state, bytes(name))
}

/** An argument of `redis.call`: text, or a number as Redis writes it. */
function argumentAt(index: number): string {
  if (lua.lua_type(state, index) !== lua.LUA_TNUMBER) return textAt(index)
  const number = lua.lua_tonumber(state, index)
  return Number.isInteger(number) ? String(number) : number.toPrecision(17)
}

function textAt(index: number): string {
  const text = lua.lua_tostring(state, index)
  if (text === null) throw new ReplyError('ERR Lua redis lib command arguments must be strings or integers')
  return Buffer.from(text).toString('utf8')
}

function pushReply(reply: Reply): void {
  if (reply === null) lua.lua_pushboolean(state, false)
  else if (typeof reply === 'string') lua.lua_pushstring(state, bytes(reply))
  else if (typeof reply === 'number') lua.lua_pushinteger(state, reply)
  else {
    lua.lua_createtable(state, reply.length, 0)
    reply.forEach((part, index) => {
      pushReply(part)
      lua.lua_rawseti(state, -2, index + 1)
    })
  }
}

/** What a script returns, by the rules of Redis: false is nil, true is 1, numbers are cut, tables end at their first nil. */
function replyAt(index: number): Reply {
  switch (lua.lua_type(state, index)) {
    case lua.LUA_TNUMBER:
      return Math.trunc(lua.lua_tonumber(state, index))
    case lua.LUA_TSTRING:
      return textAt(index)
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(state, index) ? 1 : null
    case lua.LUA_TTABLE:
      return tableAt(index)
    default:
      return null
  }
}

function tableAt(index: number): Reply[] {
  const parts: Reply[] = []
  for (let place = 1; ; place++) {
    lua.lua_rawgeti(state, index, place)
    const isEnd = lua.lua_type(state, -1) === lua.LUA_TNIL
    if (!isEnd) parts.push(replyAt(-1))
    lua.lua_pop(state, 1)
    if (isEnd) return parts
  }
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}
