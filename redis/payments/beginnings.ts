/** The mark that an authorisation may have been sent, written and confirmed before it can be (begin_commands.lua). */
import { Cluster } from 'ioredis'
import type { CommandEntry } from '../commands/command-entry.js'
import { inBatches } from '../connection/batches.js'
import type { Writes } from '../connection/writes.js'
import { keys, PAYMENTS_GROUP } from '../keys.js'
import { defineScript } from '../scripts.js'

const beginCommands = defineScript('begin_commands')

/**
 * - `begun`: the caller, and no other delivery, may send it
 * - `begun_before`: another delivery of a command of this payment began it, and may have sent it
 * - `taken_over`: the command is with another worker
 * - `changed`: the payment is not the one that was read
 */
export type BeginOutcome = 'begun' | 'begun_before' | 'taken_over' | 'changed'

const OUTCOMES: Readonly<Record<number, BeginOutcome>> = {
  0: 'taken_over',
  [-1]: 'changed',
  [-2]: 'begun_before'
}

/** Begins the authorisation of a new payment that was read in `version`. May be repeated for the same delivery. */
export type Begin = (entry: CommandEntry, version: number) => Promise<BeginOutcome>

interface Beginning {
  readonly entry: CommandEntry
  readonly version: number
}

export function createBegin(writes: Writes): Begin {
  const inGroup = (group: string): ((beginning: Beginning) => Promise<number>) =>
    inBatches(async batch => {
      const answers = await writes.run(group, node => beginCommands(node, batch.flatMap(keysOf), scriptArgsOf(batch)))
      return answers as (number | string)[]
    }, keysOf)
  const groups = new Map<string, ReturnType<typeof inGroup>>()
  return async (entry, version) => {
    // In a Cluster a script touches one slot.
    const group = keys.commands(writes.redis instanceof Cluster ? entry.partition : 0)
    const begin = groups.get(group) ?? inGroup(group)
    groups.set(group, begin)
    const answer = await begin({ entry, version })
    if (answer > 0) writes.saw(entry.partition, answer)
    return outcomeOf(answer)
  }
}

function outcomeOf(answer: number): BeginOutcome {
  const outcome = answer > 0 ? 'begun' : OUTCOMES[answer]
  if (outcome === undefined) throw new Error(`begin_commands answered ${answer}.`)
  return outcome
}

/** KEYS of begin_commands.lua for one command. */
function keysOf({ entry: { partition, paymentKey } }: Beginning): string[] {
  return [
    keys.commands(partition),
    keys.begun(partition),
    keys.payment(partition, paymentKey),
    keys.commitCounter(partition)
  ]
}

/** ARGV of begin_commands.lua. */
function scriptArgsOf(batch: readonly Beginning[]): (string | number)[] {
  const each = batch.flatMap(({ entry: { entryId, consumer, paymentKey, delivery }, version }) => [
    entryId,
    consumer,
    paymentKey,
    version,
    delivery
  ])
  return [PAYMENTS_GROUP, ...each]
}
