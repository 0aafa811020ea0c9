/** One command as it stands in a stream: who is meant, what to do, who waits for the result. */
import type { Command } from '../../machines/commands.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { paymentKeyOf } from '../keys.js'
import { DamagedValue, type Format, required, storedList, storedValue } from '../stored-fields.js'
import { storedCommand } from './stored-command.js'

/** Where a command stands in its stream, and who has it. */
export interface StreamEntry {
  /** Id of the stream entry: what is acknowledged. */
  readonly entryId: string
  readonly partition: number
  /** As they stand in the stream. */
  readonly fields: readonly string[]
  /** Who it was delivered to: the only one that may begin it, or end it without an outcome. Null: it has no owner. */
  readonly consumer: string | null
  /**
   * Tells this delivery from all others, also of the same entry to the same consumer. Null: a call may have been sent for
   * it, so that what it has begun counts as begun before. The type keeps out an empty text, which would be a name.
   */
  readonly delivery: `${string} ${number}` | null
}

/** What a script compares before it moves or ends an entry (is_with.lua). */
export function ownerOf(group: string, { entryId, consumer }: StreamEntry) {
  return { group, entry: entryId, consumer: consumer ?? undefined }
}

/** An entry that was read without being delivered. */
export function unownedEntry(partition: number, entryId: string, fields: readonly string[]): StreamEntry {
  return { partition, entryId, fields, consumer: null, delivery: null }
}

export interface CommandEntry extends StreamEntry {
  /** Payment key of the payment (keys.ts). */
  readonly paymentKey: string
  readonly command: Command
  /** Idempotency-Key of the merchant's request; null for commands of the service itself. */
  readonly idempotencyKey: string | null
  /** A hash of that key (keys.ts); null like the key. */
  readonly idempotencyRecordId: string | null
  /** Where the API process waits, and under which name. */
  readonly replyTo: { readonly channel: string; readonly commandId: string } | null
  readonly correlationId: string | null
  /** Of the request behind it (runtime/tracing.ts). */
  readonly traceparent: string | null
  /** How often it was begun in vain: its worker died with it, or failed at it. */
  readonly deliveryCount: number
  /** For `create`: the record of the new payment, because reading it took a quarter of the latency. Else null. */
  readonly newRecord: string | null
  /** For `wake`: the time that was due, so that a slow clock of the worker can't miss it (ms). */
  readonly dueAtMs: number | null
}

/** What is stored of an entry in its field `e`. */
type EntryContent = Omit<CommandEntry, keyof StreamEntry | 'newRecord'>

interface StoredEntry extends Omit<EntryContent, 'dueAtMs'> {
  /** A text, because fire_due.lua puts a score there. */
  readonly dueAt: string | null
}

const PAYMENT_KEY = /^[\da-v]+$/

/** What names no payment is damage: log lines and dead letters have the id that the key stands for. */
export const storedPaymentKey: Format<string, string> = {
  encode: paymentKey => paymentKey,
  decode(text: unknown) {
    if (typeof text !== 'string' || !PAYMENT_KEY.test(text))
      throw new DamagedValue('A stored command names no payment.')
    return text
  }
}

const storedEntry = storedValue<StoredEntry>('command', {
  paymentKey: [required, storedPaymentKey],
  command: [required, storedCommand],
  deliveryCount: [0],
  dueAt: [null],
  idempotencyKey: [null],
  idempotencyRecordId: [null],
  replyTo: [null, storedList<NonNullable<CommandEntry['replyTo']>>({ channel: [required], commandId: [required] })],
  correlationId: [null],
  traceparent: [null]
})

/** The fields of a stream entry; accept_payment.lua adds the payment as `s`. */
export function encodeEntry({ dueAtMs, ...content }: EntryContent): string[] {
  return ['e', storedEntry.encode({ ...content, dueAt: dueAtMs === null ? null : String(dueAtMs) })]
}

const UNREQUESTED = {
  idempotencyKey: null,
  idempotencyRecordId: null,
  replyTo: null,
  correlationId: null,
  traceparent: null,
  deliveryCount: 0
} as const

/** A command of the service itself: no request waits for the result. */
export function encodeServiceCommand(paymentId: string, command: Command, dueAtMs: number | null = null): string[] {
  return encodeEntry({ paymentKey: paymentKeyOf(paymentId), command, dueAtMs, ...UNREQUESTED })
}

/** A `wake` for fire_due.lua, which puts the payment key and the due time in the places of `%s`. */
export const WAKE_TEMPLATE = storedEntry.encode({
  paymentKey: '%s',
  command: { kind: 'wake' },
  dueAt: '%s',
  ...UNREQUESTED
})

/** Reads an entry for an operator, who does not own it. Null when it is not readable as a command. */
export function entryIn(partition: number, entryId: string, fields: readonly string[]): CommandEntry | null {
  try {
    return decodeEntry(unownedEntry(partition, entryId, fields))
  } catch {
    return null
  }
}

/** Reads an entry. Throws as `storedValue` does. */
export function decodeEntry({ entryId, partition, fields, consumer, delivery }: StreamEntry): CommandEntry {
  const named = fieldsOf(fields)
  const text = named.get('e')
  if (text === undefined) throw new DamagedValue(`The stream entry ${entryId} is not a command.`)
  const { dueAt, ...content } = storedEntry.decode(text)
  const dueAtMs = dueAt === null ? null : Number(dueAt)
  return { entryId, partition, fields, consumer, delivery, ...content, dueAtMs, newRecord: named.get('s') ?? null }
}
