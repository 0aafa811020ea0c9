/**
 * Keys whose type is not the one that the service gives them: another program wrote them, and each command about one fails
 * until an operator acts. Redis does not say which key it was, and no process may ask for types: an error gets the keys of
 * its command, and `operator doctor` finds the one.
 */
import { isWrongType } from './redis-errors.js'

/** The fact of /readyz with the keys of such commands, with spaces between. */
export const WRONG_TYPES_FACT = 'keys_of_failed_commands'

/** For so long /readyz speaks of such a key after a command met it (ms). */
const SHOWN_MS = 60_000
/** So many keys of a command are named. */
const NAMED_MAX = 20
/** A bound on memory: so many commands are remembered, the last ones. */
const REMEMBERED_MAX = 20

/** By the keys of a command, when it last failed (ms). */
const met = new Map<string, number>()

/** Adds the keys of its command to the error, and remembers them. Does nothing for other errors. */
export function nameWrongType(error: Error, keys: readonly string[]): void {
  if (!isWrongType(error) || keys.length === 0) return
  const names = keys.join(' ')
  error.message = `${error.message} (${oneOf(keys)})`
  met.delete(names)
  met.set(names, performance.now())
  const [oldest] = met.keys()
  if (met.size > REMEMBERED_MAX && oldest !== undefined) met.delete(oldest)
}

/** The same for an error that the server answered to a command of the client. The keys of scripts are named by scripts.ts. */
export function nameWrongTypeOfCommand(error: Error & { readonly command?: Command }): void {
  if (error.command === undefined || /^eval/.test(error.command.name)) return
  const args = error.command.args.map(String)
  nameWrongType(error, keysOf(error.command.name, args))
}

interface Command {
  readonly name: string
  readonly args: readonly unknown[]
}

function keysOf(name: string, args: readonly string[]): readonly string[] {
  const [first = '', second = ''] = args
  if (name !== 'xreadgroup') return [name === 'xinfo' || name === 'xgroup' ? second : first]
  const streams = args.slice(args.indexOf('STREAMS') + 1)
  return streams.slice(0, streams.length / 2)
}

function oneOf(keys: readonly string[]): string {
  const more = keys.length > NAMED_MAX ? ` and ${keys.length - NAMED_MAX} more` : ''
  return keys.length === 1 ? `the key ${keys[0]}` : `one of the keys ${keys.slice(0, NAMED_MAX).join(', ')}${more}`
}

/** For /readyz: what commands met in the last minute; undefined: nothing. */
export function wrongTypeWarning(): string | undefined {
  const last = [...wrongTypeCommands()].at(-1)
  if (last === undefined) return undefined
  return `In the last minute commands failed, because a key has another type than the service gives it: ${oneOf(last)}. \`operator doctor\` says which, and what to do.`
}

/** The keys of each such command, the latest last. One of them has a wrong type. */
export function wrongTypeCommands(): (readonly string[])[] {
  const sinceMs = performance.now() - SHOWN_MS
  return [...met].filter(([, atMs]) => atMs > sinceMs).map(([names]) => names.split(' '))
}
