/**
 * Whether the data of a partition has all that was acknowledged: what is remembered outside of Redis, compared with what the
 * data says of itself (decision 31). Pure.
 *
 * An epoch is the time of one server as the master. The counter alone could be overtaken: data that lost three commits and
 * made four looks newer. A memory names its epoch, and is missing when the next epoch begins below it.
 */
import { many, numbered, required, storedList, storedValue } from '../stored-fields.js'

export interface Epoch {
  readonly number: number
  /** The id under which the server is master: another one after each start and each promotion. */
  readonly serverId: string
  /** The commit counter at its beginning. */
  readonly begins: number
}

/** What was acknowledged last in a partition, as it is remembered outside of the data. */
export interface Memory extends Counted {
  readonly serverId: string
}

/** What the commit counter of a partition says: how many commits, and in which epoch. */
export interface Counted {
  readonly epoch: number
  readonly count: number
}

/** Room for 69 billion commits, and for 131,071 epochs before the counter can't be a number of JavaScript any more. */
const EPOCH_STEP = 2 ** 36

/**
 * The counter holds its epoch, too. So each answer of a script says in which epoch it counted, also one that came while the
 * server became a replica and a master again on the same connection.
 */
export function counterOf({ epoch, count }: Counted): number {
  return epoch * EPOCH_STEP + count
}

export function countedOf(counter: number): Counted {
  return { epoch: Math.floor(counter / EPOCH_STEP), count: counter % EPOCH_STEP }
}

/** What one place remembers of all partitions. `atMs`: until when it watched, by the clock of Redis. */
export interface Seen {
  readonly atMs: number
  readonly memories: ReadonlyMap<number, Memory>
}

/**
 * - `vouched`: it has what is remembered
 * - `unvouched`: nothing remembers enough of it, so the service is careful
 * - `went_back`: something is missing, and money waits
 */
const standings = ['vouched', 'unvouched', 'went_back'] as const
export type Standing = (typeof standings)[number]

/** What is missing in data that went back. */
export interface Missing {
  readonly commits: number
  /** The last command in the data, and the last moment that is remembered (ms, by the clock of Redis). */
  readonly fromMs: number
  readonly toMs: number
  /** The highest epoch that is remembered. */
  readonly epoch: number
}

/** What the data of a partition says of itself. */
export interface Vouch {
  readonly standing: Standing
  /** The oldest first. */
  readonly epochs: readonly Epoch[]
  /** Memories of earlier epochs say nothing: an operator has accepted the data. */
  readonly acceptedEpoch: number
  /** What was last changed before this may be older than what was done (ms, by the clock of the service). */
  readonly unvouchedBeforeMs: number
  readonly missing: Missing | null
}

const storedEpoch = storedList<Epoch>({ number: [required], serverId: [required], begins: [0] })

export const storedVouch = storedValue<Vouch>('vouch', {
  standing: ['vouched', numbered(standings)],
  epochs: [[], many(storedEpoch)],
  acceptedEpoch: [0],
  unvouchedBeforeMs: [0],
  missing: [null, storedList<Missing>({ commits: [0], fromMs: [0], toMs: [0], epoch: [0] })]
})

const NEW_DATA: Vouch = { standing: 'vouched', epochs: [], acceptedEpoch: 0, unvouchedBeforeMs: 0, missing: null }

/** Epochs that are kept: restarts, in which a host may be away and come back with its memory. */
const EPOCHS_MAX = 64
/** A memory that ends so much before the last command is no witness of it (ms). Each place is written every two seconds. */
const WITNESS_GAP_MS = 5_000
/** Processes may be so far ahead of the clock of Redis (ms). */
const CLOCK_TOLERANCE_MS = 1_000

/** One look at a partition. */
export interface Look {
  readonly vouch: Vouch | null
  readonly count: number
  readonly serverId: string
  /** All that was remembered before the look. */
  readonly seen: readonly { readonly atMs: number; readonly memory: Memory }[]
}

/** How many commits are missing that this memory has; null: it says nothing about this data. */
export function missingFor(memory: Memory, { epochs, acceptedEpoch }: Vouch, count: number): number | null {
  if (memory.epoch < acceptedEpoch) return null
  const at = epochs.findIndex(({ number }) => number === memory.epoch)
  const [epoch, oldest] = [epochs[at], epochs[0]]
  if (oldest !== undefined && memory.epoch < oldest.number) return null
  if (epoch === undefined) return Math.max(1, memory.count - count)
  if (epoch.serverId !== memory.serverId) return Math.max(1, memory.count - epoch.begins)
  return Math.max(0, memory.count - (epochs[at + 1]?.begins ?? count))
}

/** The greatest loss that a memory knows of; null: nothing is missing. */
export function lossIn({ vouch, count, seen }: Look): Omit<Missing, 'fromMs'> | null {
  const known = vouch ?? NEW_DATA
  const losses = seen.flatMap(({ atMs, memory }) => {
    const commits = missingFor(memory, known, count) ?? 0
    return commits === 0 ? [] : [{ commits, toMs: atMs, epoch: memory.epoch }]
  })
  if (losses.length === 0) return null
  const most = (pick: (loss: Omit<Missing, 'fromMs'>) => number): number => Math.max(...losses.map(pick))
  return { commits: most(loss => loss.commits), toMs: most(loss => loss.toMs), epoch: most(loss => loss.epoch) }
}

/** Whether the server that was looked at is the one of the newest epoch. */
export function isCurrent({ vouch, serverId }: Look): boolean {
  return vouch?.epochs.at(-1)?.serverId === serverId
}

/** What a look changes; `isMarked`: all that waits in the partition counts as begun. Null: nothing. */
export function afterLook(
  look: Look,
  { lastCommandMs, nowMs }: { readonly lastCommandMs: number; readonly nowMs: number }
): { readonly vouch: Vouch; readonly isMarked: boolean } | null {
  const known = look.vouch ?? NEW_DATA
  const loss = lossIn(look)
  if (loss !== null) {
    const before = known.missing
    const missing: Missing = {
      commits: Math.max(loss.commits, before?.commits ?? 0),
      fromMs: before?.fromMs ?? lastCommandMs,
      toMs: before?.toMs ?? loss.toMs,
      epoch: Math.max(loss.epoch, before?.epoch ?? 0)
    }
    const isNew = before === null || missing.commits > before.commits || missing.epoch > before.epoch
    return isNew ? { vouch: { ...known, standing: 'went_back', missing }, isMarked: false } : null
  }
  if (known.standing === 'went_back' || isCurrent(look)) return null
  const continued = { ...known, epochs: withEpoch(known, look, (known.epochs.at(-1)?.number ?? 0) + 1) }
  const isWitness = ({ atMs, memory }: Look['seen'][number]): boolean =>
    atMs >= lastCommandMs - WITNESS_GAP_MS && missingFor(memory, known, look.count) === 0
  // Without a vouch the data is new, or of a version that had none.
  if (look.vouch === null || look.count === 0 || look.seen.some(isWitness)) return { vouch: continued, isMarked: false }
  return { vouch: unvouchedSince(continued, nowMs), isMarked: true }
}

/** An operator takes data that went back as it is. Memories of what is missing say nothing from now on. */
export function acceptedAs(known: Vouch, look: Pick<Look, 'count' | 'serverId'>, nowMs: number): Vouch {
  const number = Math.max(known.epochs.at(-1)?.number ?? 0, known.missing?.epoch ?? 0) + 1
  return {
    ...unvouchedSince({ ...known, epochs: withEpoch(known, look, number) }, nowMs),
    acceptedEpoch: number,
    missing: null
  }
}

/** All open payments are compared. Others are when their next operation comes. */
export function comparedAs(known: Vouch): Vouch {
  return { ...known, standing: 'vouched' }
}

/** The one of two memories that knows more. */
export function laterOf(one: Memory | undefined, other: Memory): Memory {
  if (one === undefined || other.epoch > one.epoch) return other
  return other.epoch === one.epoch && other.count > one.count ? other : one
}

function withEpoch({ epochs }: Vouch, { count, serverId }: Pick<Look, 'count' | 'serverId'>, number: number): Epoch[] {
  return [...epochs, { number, serverId, begins: count }].slice(-EPOCHS_MAX)
}

function unvouchedSince(known: Vouch, nowMs: number): Vouch {
  return { ...known, standing: 'unvouched', unvouchedBeforeMs: nowMs + CLOCK_TOLERANCE_MS }
}
