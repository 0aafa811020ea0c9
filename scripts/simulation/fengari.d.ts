/** The part of fengari (a Lua virtual machine in JavaScript) that the simulation uses. */
declare module 'fengari' {
  interface State {
    readonly brand: unique symbol
  }
  const fengari: {
    lua: {
      LUA_TNIL: number
      LUA_TBOOLEAN: number
      LUA_TNUMBER: number
      LUA_TSTRING: number
      LUA_TTABLE: number
      LUA_OK: number
      lua_call(L: State, args: number, results: number): void
      lua_createtable(L: State, length: number, fields: number): void
      lua_error(L: State): never
      lua_getglobal(L: State, name: Uint8Array): number
      lua_gettop(L: State): number
      lua_pcall(L: State, args: number, results: number, handler: number): number
      lua_pop(L: State, count: number): void
      lua_pushboolean(L: State, value: boolean): void
      lua_pushcfunction(L: State, f: (L: State) => number): void
      lua_pushinteger(L: State, value: number): void
      lua_pushstring(L: State, value: Uint8Array): void
      lua_pushvalue(L: State, index: number): void
      lua_rawgeti(L: State, index: number, place: number): number
      lua_rawlen(L: State, index: number): number
      lua_rawseti(L: State, index: number, place: number): void
      lua_setfield(L: State, index: number, name: Uint8Array): void
      lua_setglobal(L: State, name: Uint8Array): void
      lua_settop(L: State, index: number): void
      lua_toboolean(L: State, index: number): boolean
      lua_tonumber(L: State, index: number): number
      lua_tostring(L: State, index: number): Uint8Array | null
      lua_type(L: State, index: number): number
    }
    lauxlib: {
      luaL_loadbuffer(L: State, code: Uint8Array, size: number | null, name: Uint8Array): number
      luaL_newstate(): State
      luaL_ref(L: State, table: number): number
      LUA_REGISTRYINDEX?: number
    }
    lualib: { luaL_openlibs(L: State): void }
    to_luastring(text: string): Uint8Array
  }
  export default fengari
}
