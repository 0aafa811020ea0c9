/** What all verbs of the operator's command line have in common: options, connection, output. */
import type { Command, OptionValues } from 'commander'
import { confirmedReplicas } from '../../redis/connection/writes.js'
import { replayProblem } from '../../redis/installation/aof-replay-rights.js'
import { escapeControlCharacters } from '../../runtime/escape-control-characters.js'
import { messageOf } from '../../runtime/message-of.js'
import { UsageError } from '../command-line/usage-error.js'
import { addChangeOptions, type ChangeKind, type ChangeWorld, makeChange } from './change.js'
import type { OperatorConnection } from './connection.js'

/** What the verbs use of the process; tests bring their own. */
export interface OperatorWorld extends ChangeWorld {
  connect(): Promise<OperatorConnection>
  /** Replaces the process's environment, for `doctor`. */
  readonly env?: NodeJS.ProcessEnv
  /** A promise resolves when more can be written: to false when the reader has closed the output. Rejects without room. */
  out(text: string): unknown
  /** Shows a line that the next one replaces; absent without a terminal. */
  readonly terminal?: ((line: string) => void) | undefined
}

/** The same result for programs (`--json`) and for people. */
export interface Output {
  /** A report that may be long is a stream of lines, also as JSON. */
  readonly json: unknown
  readonly text: string | AsyncIterable<string>
  /** The id of what the verb has made, for the audit trail. */
  readonly made?: string
  /** What to do when the output is lost: it has what nothing shows again. */
  readonly whenLost?: string
  /** A sentence about what the verb found wrong. It goes to standard error, and the exit code is 1. */
  readonly failure?: string | undefined
}

/** How a verb is called. */
export interface VerbForm {
  readonly does: string
  /**
   * What the verb is about: its first argument, or the option of the same name. `read` throws `UsageError` for what it does
   * not understand, before anything is asked, recorded or changed. A text that it returns stands for what was typed.
   */
  readonly subject?: readonly [name: string, description: string, read?: (given: string) => unknown]
  /** The subject may be missing, and is '' then. */
  readonly isSubjectOptional?: boolean
  /** Absent for a verb that only reads. */
  readonly change?: ChangeKind
}

/** What a verb does. `subject` is '' for a verb that has none. */
export type Verb<Options> = (
  connection: OperatorConnection,
  options: Options,
  subject: string,
  world: OperatorWorld
) => Promise<Output>

/** What a verb does that needs no Redis. */
export type LocalVerb<Options> = (
  options: Options,
  subject: string,
  env: NodeJS.ProcessEnv | undefined
) => Output | Promise<Output>

/** Makes a command a verb, and returns it for further options; `local` makes one that needs no Redis. */
export interface VerbMaker {
  <Options extends OptionValues>(command: Command, form: VerbForm, verb: Verb<Options>): Command
  local<Options extends OptionValues>(command: Command, form: VerbForm, verb: LocalVerb<Options>): Command
}

/** `onFailure`: called when an output is a failure. */
export function verbMaker(world: OperatorWorld, onFailure: () => void): VerbMaker {
  const write = async (text: string): Promise<boolean> => (await world.out(escapeControlCharacters(text))) !== false
  const print = async ({ json, text, failure, whenLost }: Output, isJson: boolean): Promise<void> => {
    const printed = isJson ? json : text
    if (isStream(printed)) {
      for await (const line of printed) if (!(await write(line))) break
    } else if (!(await write(isJson ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`)) && whenLost !== undefined)
      throw new Error('nothing reads it')
    if (failure === undefined) return
    world.err(escapeControlCharacters(`error: ${failure}\n`))
    onFailure()
  }
  const local = <Options extends OptionValues>(command: Command, form: VerbForm, verb: LocalVerb<Options>): Command =>
    formed(command, form).action(async () => {
      const options = command.opts<Options>()
      await print(await verb(options, subjectOf(command, form), world.env), options['json'] ?? false)
    })
  const connected = <Options extends OptionValues>(command: Command, form: VerbForm, verb: Verb<Options>): Command =>
    formed(command, form).action(async () => {
      const options = command.opts<Options>()
      const subject = subjectOf(command, form)
      const connection = await world.connect()
      try {
        const run = (): Promise<Output> => verb(connection, options, subject, world)
        const change = { verb: `${command.parent?.name()} ${command.name()}`, target: subject, options }
        const output = await (form.change === undefined
          ? run()
          : makeChange(connection, world, { ...change, kind: form.change }, run))
        try {
          await print(output, options['json'] ?? false)
        } catch (error) {
          if (form.change === undefined) throw error
          const advice = output.whenLost ?? '`audit` shows the change.'
          throw new Error(`The change is made, and its output is lost: ${messageOf(error)}. ${advice}`)
        } finally {
          await warnOfLoss(connection, world)
        }
      } finally {
        await connection.close()
      }
    })
  return Object.assign(connected, { local })
}

function isStream(printed: unknown): printed is AsyncIterable<string> {
  return typeof printed === 'object' && printed !== null && Symbol.asyncIterator in printed
}

function formed(command: Command, { does, subject, change }: VerbForm): Command {
  command.description(does).option('--json', 'print JSON')
  if (change !== undefined) addChangeOptions(command, change)
  if (subject === undefined) return command
  const [name, description] = subject
  return command.argument(`[${name}]`, description).option(`--${name} <${name}>`, `another way to give <${name}>`)
}

function subjectOf(command: Command, { subject, isSubjectOptional = false }: VerbForm): string {
  if (subject === undefined) return ''
  const [name, , read] = subject
  const given: string | undefined = command.args[0] ?? command.opts<OptionValues>()[name]
  if (!given && !isSubjectOptional) throw new UsageError(`missing argument <${name}>, or option --${name}`)
  if (!given) return ''
  const understood = read?.(given)
  return typeof understood === 'string' ? understood : given
}

/** Warns an operator when what was written may be lost. The command does not wait for replicas. */
async function warnOfLoss({ config, redis }: OperatorConnection, world: OperatorWorld): Promise<void> {
  const problem = await replayProblem(redis).catch(messageOf)
  if (problem !== undefined) world.err(`warning: ${problem}\n`)
  const wanted = config.waitReplicas
  if (wanted === 0) return
  const count = await confirmedReplicas(redis, wanted)
  if (count >= wanted) return
  world.err(
    `warning: ${count} replicas answer, WAIT_REPLICAS asks for ${wanted}. A failover may lose what this command has written. Bring the replicas back, then look whether the change is still there.\n`
  )
}
