/** What all verbs of the operator's command line have in common: connect, do it, print, close. */
import { Command, type OptionValues } from 'commander'
import { confirmedReplicas } from '../../redis/connection/writes.js'
import { replayProblem } from '../../redis/installation/replay.js'
import { messageOf } from '../../runtime/message-of.js'
import { UsageError } from '../command-line/usage-error.js'
import type { OperatorConnection } from './connection.js'

/** The world around the commands; tests bring their own. */
export interface OperatorWorld {
  connect(): Promise<OperatorConnection>
  /** In the place of the process's environment, for `doctor`. */
  readonly env?: NodeJS.ProcessEnv
  out(text: string): void
  err(text: string): void
}

/** The same result for programs (`--json`) and for people. */
export interface Output {
  readonly json: unknown
  readonly text: string
  /** What the verb found wrong, in a sentence: it goes to standard error, and the exit code is 1. */
  readonly failure?: string | undefined
}

/** What a verb does, with its options and its positional arguments. */
export type Verb<Options> = (
  connection: OperatorConnection,
  options: Options,
  args: readonly string[]
) => Promise<Output>

/** What a verb does that needs no connection. */
export type LocalVerb<Options> = (
  options: Options,
  args: readonly string[],
  env: NodeJS.ProcessEnv | undefined
) => Output | Promise<Output>

/** In the form that commander calls. */
type Action = (...given: unknown[]) => Promise<void>

/** Makes the action of a verb; `local` for one that needs no Redis. */
export interface ActionMaker {
  <Options extends OptionValues>(verb: Verb<Options>): Action
  local<Options extends OptionValues>(verb: LocalVerb<Options>): Action
}

/** `onFailure`: told when an output is one. */
export function actionMaker(world: OperatorWorld, onFailure: () => void): ActionMaker {
  const print = (command: Command, { json, text, failure }: Output): void => {
    const isJson = command.opts<{ json?: boolean }>().json ?? false
    world.out(isJson ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`)
    if (failure === undefined) return
    world.err(`error: ${failure}\n`)
    onFailure()
  }
  const connected =
    <Options extends OptionValues>(verb: Verb<Options>): Action =>
    async (...given) => {
      const command = commandOf(given)
      const connection = await world.connect()
      try {
        print(command, await verb(connection, command.opts<Options>(), command.args))
        await warnOfLoss(connection, world)
      } finally {
        await connection.close()
      }
    }
  const local =
    <Options extends OptionValues>(verb: LocalVerb<Options>): Action =>
    async (...given) => {
      const command = commandOf(given)
      print(command, await verb(command.opts<Options>(), command.args, world.env))
    }
  return Object.assign(connected, { local })
}

function commandOf(given: readonly unknown[]): Command {
  const command = given.at(-1)
  if (!(command instanceof Command)) throw new TypeError('commander passes the command last')
  return command
}

/** Tells an operator, who is not kept waiting for it, what may become of what was written. */
async function warnOfLoss({ config, redis }: OperatorConnection, world: OperatorWorld): Promise<void> {
  const problem = await replayProblem(redis).catch(messageOf)
  if (problem !== undefined) world.err(`${problem}\n`)
  const wanted = config.waitReplicas
  if (wanted === 0) return
  const count = await confirmedReplicas(redis, wanted)
  if (count >= wanted) return
  world.err(
    `${count} replicas answer, WAIT_REPLICAS asks for ${wanted}: what this command has written may be lost in a failover. Bring the replicas back and look again.\n`
  )
}

/** The thing that a verb is about: its first argument, or the option that says the same. Throws `UsageError`. */
export function subjectOf(args: readonly string[], option: string | undefined, name: string): string {
  const subject = args[0] ?? option
  if (subject === undefined) throw new UsageError(`missing argument <${name}>, or option --${name}`)
  return subject
}
