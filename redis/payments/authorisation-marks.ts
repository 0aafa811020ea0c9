/** The mark that an authorisation may have been sent, written and confirmed before it can be (begin_commands.lua). */
import { Cluster } from 'ioredis'
import { type CommandEntry, ownerOf } from '../commands/command-entry.js'
import { inBatches } from '../connection/batches.js'
import type { Writes } from '../connection/writes.js'
import { keys, PAYMENTS_GROUP } from '../keys.js'
import { defineBatchScript } from '../scripts.js'

const beginCommands = defineBatchScript<{
  keys: keyof ReturnType<typeof keysOf>
  given: ReturnType<typeof givenOf>
}>('begin_commands')

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
    inBatches(
      async batch => {
        const calls = batch.map(beginning => ({ keys: keysOf(beginning), given: givenOf(beginning) }))
        return (await writes.run(group, node => beginCommands(node, calls))) as (number | string)[]
      },
      beginning => Object.values(keysOf(beginning))
    )
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

function keysOf({ entry: { partition, paymentKey } }: Beginning) {
  return {
    commands: keys.commands(partition),
    begun: keys.begun(partition),
    payment: keys.payment(partition, paymentKey),
    counter: keys.commitCounter(partition)
  }
}

function givenOf({ entry, version }: Beginning) {
  return {
    ...ownerOf(PAYMENTS_GROUP, entry),
    member: entry.paymentKey,
    version: String(version),
    delivery: entry.delivery ?? undefined
  }
}
