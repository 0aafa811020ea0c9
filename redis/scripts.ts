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

/** The keys of a script, or of one of its calls, and what it is given, each by name. */
interface Named {
  readonly keys: string
  readonly given: Given
}

type KeysOf<Call extends Named> = Readonly<Record<Call['keys'], string>>

/** Runs a script with its keys and its argument by name. */
export type NamedScript<Call extends Named> = (
  redis: Redis,
  keys: KeysOf<Call>,
  given: Call['given']
) => Promise<unknown>

/** Runs a script that answers many calls, each with its keys and its argument by name. */
export type BatchScript<Call extends Named> = (
  redis: Redis,
  calls: readonly { readonly keys: KeysOf<Call>; readonly given: Call['given'] }[]
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
 * The text of `<name>.lua`, with what it includes, and before it what its headers name: `keys` and `given`, or `keysOf` and
 * `given.calls`. Throws when there is no such script.
 */
export function loadLua(name: string): string {
  const text = textOf(name)
  const names = keyNamesOf(text)
  const given = 'local given = cjson.decode(ARGV[1])\n'
  if (/^-- call\.\w/m.test(text)) {
    const fields = names.map((key, index) => `${key} = KEYS[(i - 1) * ${names.length} + ${index + 1}]`)
    return `${given}local function keysOf(i) return { ${fields} } end\n${text}`
  }
  if (names.length > 0) {
    const texts = 'for i, name in ipairs(given.texts) do given[name] = ARGV[i + 1] end\n'
    const fields = names.map((key, index) => `${key} = KEYS[${index + 1}]`)
    return `${given}${texts}local keys = { ${fields} }\n${text}`
  }
  return /^-- given\.\w/m.test(text) ? given + text : text
}

function textOf(name: string): string {
  const file = files.get(name)
  if (file === undefined) throw new Error(`No file below redis/ is named ${name}.lua.`)
  return readFileSync(file, 'utf8').replace(/^-- include (\w+)$/gm, (_, included: string) => textOf(included))
}

/** The names of the keys of a script, and of what it includes: the lines `-- keys.<name>   <type>   <what it holds>`. */
function keyNamesOf(lua: string): string[] {
  return [...new Set([...lua.matchAll(/^-- keys\.(\w+)/gm)].map(([, key = '']) => key))]
}

/** The arguments that the headers name: `given.<name>`, or `call.<name>`. */
function argumentNamesOf(lua: string, table: 'given' | 'call'): ReadonlySet<string> {
  const headers = lua.split('\n').filter(line => line.startsWith('--'))
  const names = headers.flatMap(line => [...line.matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'))])
  return new Set(names.map(([, name = '']) => name))
}

/** Throws for a name that the script does not read: it would find nothing under its own. */
function assertKnown(script: ScriptName, known: ReadonlySet<string>, given: Given): void {
  for (const name in given) {
    if (!known.has(name)) throw new TypeError(`The script ${script} is given ${name}, which it does not read.`)
  }
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
  return scriptSteps.some(step => step === name)
    ? (redis, keys, args) => withCrashPoints(name, () => run(redis, keys, args))
    : run
}

/**
 * The same for a script whose headers name its keys and arguments. `Call` is the type of what it gets. Rejects when the keys are
 * not those, and for another argument, before anything runs.
 */
export function defineNamedScript<Call extends Named>(name: ScriptName): NamedScript<Call> {
  const text = textOf(name)
  const [names, known] = [keyNamesOf(text), argumentNamesOf(text, 'given')]
  const run = defineScript(name)
  return async (redis, keys, given) => {
    assertKnown(name, known, given)
    return await run(redis, inOrder(name, names, keys), argumentsOf(given))
  }
}

/** The same for a script that answers many calls: its keys are those of each call. */
export function defineBatchScript<Call extends Named>(name: ScriptName): BatchScript<Call> {
  const text = textOf(name)
  const [names, known] = [keyNamesOf(text), argumentNamesOf(text, 'call')]
  const run = defineScript(name)
  return async (redis, calls) => {
    for (const { given } of calls) assertKnown(name, known, given)
    const scriptKeys = calls.flatMap(({ keys }) => inOrder(name, names, keys))
    return await run(redis, scriptKeys, [JSON.stringify({ calls: calls.map(({ given }) => given) })])
  }
}

function inOrder(script: ScriptName, names: readonly string[], keys: Readonly<Record<string, string>>): string[] {
  const scriptKeys = names.map(name => keys[name] ?? '')
  if (scriptKeys.includes('') || Object.keys(keys).length !== names.length)
    throw new TypeError(`The script ${script} has the keys ${names}, not ${Object.keys(keys)}.`)
  return scriptKeys
}

/** ARGV: JSON, and after it the texts, named there in `texts`. Most are JSON themselves, and would be escaped in it. */
export function argumentsOf(given: Given): string[] {
  const others: Record<string, unknown> = {}
  const texts: string[] = []
  const args = ['']
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') {
      texts.push(name)
      args.push(value)
    } else others[name] = value
  }
  args[0] = JSON.stringify({ ...others, texts })
  return args
}
