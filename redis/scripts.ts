/** The Lua scripts: one atomic step per file, addressed by its hash, loaded when a server lacks it. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { withCrashPoints } from '../runtime/crash-points.js'
import { argumentsMin } from './command-arguments.js'
import type { Redis } from './connection/connections.js'
import { nameWrongType } from './connection/wrong-types.js'
import { keys } from './keys.js'
import { type ScriptName, scriptSteps } from './script-names.js'

/** Runs a script with its KEYS and ARGV; the raw answer is for the caller's parser. */
export type Script = (redis: Redis, keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

/** What a script is given by name. `undefined` is left out: in Lua it is nil. Times and counts, no figure of more than 14 digits. */
type Given = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Runs a script with its keys and its argument by name. */
export type NamedScript<Call extends { keys: string; given: Given }> = (
  redis: Redis,
  keys: Readonly<Record<Call['keys'], string>>,
  given: Call['given']
) => Promise<unknown>

const folder = new URL('../../redis/', import.meta.url)

/** The files of the scripts by name, without `.lua`, wherever they stand below redis/. Names are unique. */
const files: ReadonlyMap<string, URL> = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.lua'))
    .map(path => [basename(path, '.lua'), new URL(path.replaceAll('\\', '/'), folder)])
)

/** The names of all scripts, and of the texts that they include. */
export const luaNames: readonly string[] = [...files.keys()].sort()

/**
 * The text of `<name>.lua`, with what it includes, and with `keys` and `given` when its header has a table of keys. Throws when
 * there is no such script.
 */
export function loadLua(name: string): string {
  const file = files.get(name)
  if (file === undefined) throw new Error(`No file below redis/ is named ${name}.lua.`)
  const text = readFileSync(file, 'utf8')
  const whole = text.replace(/^-- include (\w+)$/gm, (_, included: string) => loadLua(included))
  const scriptKeys = keyNamesOf(text).map((key, index) => `${key} = KEYS[${index + 1}]`)
  return scriptKeys.length === 0 ? whole : `local keys, given = { ${scriptKeys} }, cjson.decode(ARGV[1])\n${whole}`
}

/** The names in the table of keys of a script: its lines `-- keys.<name>   <type>   <what it holds>`, in their order. */
function keyNamesOf(lua: string): string[] {
  return [...lua.matchAll(/^-- keys\.(\w+)/gm)].map(([, key = '']) => key)
}

/**
 * Code that ends a script before its first command when its user may not run one of its commands. Redis keeps what a
 * script has written before a command that is denied, and such a payment would be half committed.
 *
 * The arguments stand for any: `acl_check_cmd` looks at keys and channels too, but Redis has checked all KEYS already.
 */
function guardOf(name: ScriptName, lua: string): string {
  const calls = [...lua.matchAll(/redis\.call\('([A-Z]+)'(?:, '([A-Z]+)')?/g)]
  const commands = new Map(
    calls.map(([, command = '', part]) => [part === undefined ? command : `${command} ${part}`, command])
  )
  const checks = [...commands].map(([words, command]) => {
    const count = argumentsMin[words]
    if (count === undefined) throw new Error(`command-arguments.ts does not know ${words}, which ${name} runs.`)
    const texts = [...words.split(' '), ...(command === 'PUBLISH' ? [keys.replyChannel('0')] : [])]
    const anyKey = Array<string>(command === 'PUBLISH' ? count - 1 : count).fill('k')
    const args = [...texts.map(word => `'${word}'`), ...anyKey]
    const denied = `NOPERM script ${name} was not run: its user may not run ${words}`
    return `if not may(${args}) then return redis.error_reply('${denied}') end`
  })
  return `do local may, k = redis.acl_check_cmd, KEYS[1] ${checks.join(' ')} end`
}

/** The script `<name>.lua`, ready to run on any connection, between its crash points. */
export function defineScript(name: ScriptName): Script {
  const text = loadLua(name)
  const lua = `${guardOf(name, text)} ${text}`
  const hash = createHash('sha1').update(lua).digest('hex')
  const run: Script = async (redis, keys, args) => {
    try {
      return await redis.evalsha(hash, keys.length, ...keys, ...args).catch((error: unknown) => {
        // The server was restarted or is new: EVAL runs the script and keeps it. Nothing ran before this answer.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
        return redis.eval(lua, keys.length, ...keys, ...args)
      })
    } catch (error) {
      if (error instanceof Error) nameWrongType(error, keys)
      throw error
    }
  }
  return Object.hasOwn(scriptSteps, name)
    ? (redis, keys, args) => withCrashPoints(name, () => run(redis, keys, args))
    : run
}

/**
 * The same for a script whose header has a table of keys. `Call` is the type of what it gets. Rejects when the keys are not
 * those of the table, before anything runs.
 */
export function defineNamedScript<Call extends { keys: string; given: Given }>(name: ScriptName): NamedScript<Call> {
  const names = keyNamesOf(loadLua(name))
  const run = defineScript(name)
  return async (redis, keys, given) => {
    const byName: Readonly<Record<string, string>> = keys
    const scriptKeys = names.map(key => byName[key] ?? '')
    if (scriptKeys.includes('') || Object.keys(byName).length !== names.length)
      throw new TypeError(`The script ${name} has the keys ${names}, not ${Object.keys(byName)}.`)
    return await run(redis, scriptKeys, [JSON.stringify(given)])
  }
}
