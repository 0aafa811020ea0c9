/**
 * The mark that an authorisation may have been sent, written and confirmed before it can be (begin_commands.lua).
 *
 * A script at a time: what is asked for meanwhile shares the next one, so that its cost per payment falls with the load.
 */
import { Cluster } from 'ioredis'
import type { CommandEntry } from '../commands/command-entry.js'
import type { Writes } from '../connection/writes.js'
import { keys, PAYMENTS_GROUP } from '../keys.js'
import { defineScript } from '../scripts.js'

const beginCommands = defineScript('begin_commands')

/** Payments that one script marks: it should not keep others waiting. */
const BATCH_MAX = 64

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

interface Asked {
  readonly entry: CommandEntry
  readonly version: number
  readonly resolve: (outcome: BeginOutcome) => void
  readonly reject: (error: unknown) => void
}

/** Begins the authorisation of a new payment that was read in `version`. May be repeated for the same delivery. */
export type Begin = (entry: CommandEntry, version: number) => Promise<BeginOutcome>

export function createBegin(writes: Writes): Begin {
  const waiting = new Map<string, Asked[]>()
  // In a Cluster a script touches one slot.
  const groupOf = ({ partition }: CommandEntry): string =>
    writes.redis instanceof Cluster ? keys.commands(partition) : keys.commands(0)
  return (entry, version) =>
    new Promise((resolve, reject) => {
      const asked = { entry, version, resolve, reject }
      const group = groupOf(entry)
      const others = waiting.get(group)
      if (others !== undefined) return void others.push(asked)
      const all = [asked]
      waiting.set(group, all)
      void beginAll(writes, group, all, () => waiting.delete(group))
    })
}

/** Ends when no caller waits any more, and says so in the same moment. */
async function beginAll(writes: Writes, group: string, waiting: Asked[], ended: () => void): Promise<void> {
  while (waiting.length > 0) {
    const batch = waiting.splice(0, BATCH_MAX)
    try {
      const answers = await writes.run(group, node => beginCommands(node, scriptKeysOf(batch), scriptArgsOf(batch)))
      for (const [at, { entry, resolve }] of batch.entries()) {
        const answer = Number((answers as number[])[at])
        if (answer > 0) writes.saw(entry.partition, answer)
        resolve(outcomeOf(answer))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  ended()
}

function outcomeOf(answer: number): BeginOutcome {
  const outcome = answer > 0 ? 'begun' : OUTCOMES[answer]
  if (outcome === undefined) throw new Error(`begin_commands answered ${answer}.`)
  return outcome
}

/** KEYS of begin_commands.lua. */
function scriptKeysOf(batch: readonly Asked[]): string[] {
  return batch.flatMap(({ entry: { partition, paymentKey } }) => [
    keys.commands(partition),
    keys.begun(partition),
    keys.payment(partition, paymentKey),
    keys.commitCounter(partition)
  ])
}

/** ARGV of begin_commands.lua. */
function scriptArgsOf(batch: readonly Asked[]): (string | number)[] {
  const each = batch.flatMap(({ entry: { entryId, consumer, paymentKey, delivery }, version }) => [
    entryId,
    consumer,
    paymentKey,
    version,
    delivery
  ])
  return [PAYMENTS_GROUP, ...each]
}
