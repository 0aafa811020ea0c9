/** Changes by operators: the audit trail records who made one and why. One that can't be undone is confirmed first. */
import { hostname, userInfo } from 'node:os'
import type { Command } from 'commander'
import { holdsCardData } from '../../machines/card-data-in-text.js'
import { recordAttempt, recordOutcome } from '../../redis/operator/audit-trail.js'
import type { Logger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneLine } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'

/** `for_ever`: it can't be undone. */
export type ChangeKind = 'can_be_undone' | 'for_ever'

interface ChangeOptions {
  readonly actor?: string
  readonly reason?: string
  readonly yes?: boolean
  readonly [option: string]: unknown
}

export interface ChangeWorld {
  err(text: string): void
  /** Asks the person at the terminal; absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
  /** Gets a line for each change. */
  readonly log?: Logger
}

const ACTOR_LENGTH_MAX = 120
const REASON_LENGTH_MAX = 500
/** Of any text of a change: the trail keeps each for ever. */
const TEXT_LENGTH_MAX = 1_000
/** Options that the trail records under other names, or not at all. */
const NOT_RECORDED = new Set(['actor', 'reason', 'yes', 'json'])

export function addChangeOptions(command: Command, kind: ChangeKind): void {
  command
    .option('--actor <name>', 'who makes the change; user@host of this process unless given', oneLine(ACTOR_LENGTH_MAX))
    .option('--reason <text>', 'why, such as a ticket; `audit` shows it', oneLine(REASON_LENGTH_MAX))
  if (kind === 'for_ever') command.option('--yes', 'do not ask for confirmation, although it cannot be undone')
}

/** The trail is kept for ever, and shown. Throws `UsageError` for a text that it must not keep. */
function requireRecordable(named: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(named)) {
    if (typeof text !== 'string') continue
    if (holdsCardData(text)) {
      throw new UsageError(
        `the ${name} must not have a card number or security code in it; the audit trail keeps it. Nothing was changed.`
      )
    }
    if (text.length > TEXT_LENGTH_MAX) {
      throw new UsageError(
        `the ${name} has ${text.length} characters, and the audit trail keeps ${TEXT_LENGTH_MAX} at most. Nothing was changed.`
      )
    }
  }
}

/** A change as the command line asks for it. */
interface AskedChange {
  readonly verb: string
  readonly target: string
  readonly options: ChangeOptions
  readonly kind: ChangeKind
}

/**
 * Makes a change between two entries of the audit trail. Without the first entry nothing is changed. Throws `UsageError`
 * for a text that the trail must not keep, and for a change that can't be undone, unless `--yes` was given or the person at
 * the terminal types yes.
 */
export async function makeChange<Result extends { readonly made?: string }>(
  { redis, config }: OperatorConnection,
  world: ChangeWorld,
  { verb, target, options, kind }: AskedChange,
  change: () => Promise<Result>
): Promise<Result> {
  requireRecordable({ subject: target, ...options })
  if (kind === 'for_ever' && !options.yes) await confirm(world, `"${verb} ${target}" in ${config.environment}`)
  const { actor = osActor(), reason = '' } = options
  const further = Object.fromEntries(Object.entries(options).filter(([name]) => !NOT_RECORDED.has(name)))
  const attempt = { actor, verb, target, options: further, reason }
  const auditId = await recordAttempt(redis, attempt)
  const conclude = async (outcome: 'done' | 'failed', detail: string): Promise<void> => {
    world.log?.info({ audit_id: auditId, ...attempt, outcome, detail }, 'an operator asked for a change')
    await recordOutcome(redis, auditId, { outcome, detail }).catch((error: unknown) =>
      world.err(
        `warning: The change is ${outcome}, but the audit trail does not have this outcome (entry ${auditId}): ${messageOf(error)}\n`
      )
    )
  }
  try {
    const result = await change()
    await conclude('done', result.made ?? '')
    return result
  } catch (error) {
    await conclude('failed', messageOf(error))
    throw error
  }
}

async function confirm({ ask }: ChangeWorld, what: string): Promise<void> {
  if (ask === undefined) throw new UsageError(`${what} cannot be undone. Nothing was changed. Add --yes to do it.`)
  const answer = await ask(`${what} cannot be undone. Type yes to do it: `)
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed: the answer was not yes.')
}

/** The user of the operating system, which may have no name in a container. */
function osActor(): string {
  let user = `uid ${process.getuid?.()}`
  try {
    user = userInfo().username
  } catch {
    // The uid is enough.
  }
  return `${user}@${hostname()}`
}
