/** One command as it stands in a stream: who is meant, what to do, who waits for the result. */
import type { Command } from '../../machines/commands.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { paymentKeyOf } from '../keys.js'

export interface CommandEntry {
  /** Id of the stream entry: what is acknowledged. */
  readonly entryId: string
  readonly partition: number
  /** Payment key of the payment (keys.ts). */
  readonly paymentKey: string
  readonly command: Command
  /** Idempotency-Key of the merchant's request; null for commands of the service itself. */
  readonly idempotencyKey: string | null
  /** The name of the idempotency record that the key has (keys.ts); null like the key. */
  readonly record: string | null
  /** Where the API process waits, and under which name. */
  readonly replyTo: { readonly channel: string; readonly commandId: string } | null
  readonly correlationId: string | null
  /** Of the request behind it (runtime/tracing.ts). */
  readonly traceparent: string | null
  /** How often the command was delivered before: above 0, the call may have been sent. */
  readonly deliveryCount: number
  /** For `create` as it was accepted: the record of the new payment. Null for everything else, and when it came back. */
  readonly accepted: string | null
  /** For `wake`: the time that was due, so that a slow clock of the worker can't miss it (ms). */
  readonly dueAtMs: number | null
}

/** The fields of a stream entry, in pairs; `accepted` is added by accept_payment.lua alone. */
export function encodeEntry(entry: Omit<CommandEntry, 'entryId' | 'partition' | 'accepted'>): string[] {
  const fields = ['p', entry.paymentKey, 'c', JSON.stringify(entry.command)]
  if (entry.record !== null) fields.push('k', entry.record, 'y', entry.idempotencyKey ?? '')
  if (entry.replyTo !== null) fields.push('r', entry.replyTo.channel, 'i', entry.replyTo.commandId)
  if (entry.correlationId !== null) fields.push('x', entry.correlationId)
  if (entry.traceparent !== null) fields.push('t', entry.traceparent)
  if (entry.deliveryCount > 0) fields.push('n', String(entry.deliveryCount))
  if (entry.dueAtMs !== null) fields.push('d', String(entry.dueAtMs))
  return fields
}

/** A command of the service itself: no request waits for the result. `dueAtMs`: of a `wake`. */
export function encodeServiceCommand(paymentId: string, command: Command, dueAtMs: number | null = null): string[] {
  const unrequested = {
    idempotencyKey: null,
    record: null,
    replyTo: null,
    correlationId: null,
    traceparent: null,
    deliveryCount: 0,
    dueAtMs
  }
  return encodeEntry({ paymentKey: paymentKeyOf(paymentId), command, ...unrequested })
}

/** Reads an entry. Throws when it is not one of ours; the caller makes it a dead letter. */
export function decodeEntry(partition: number, entryId: string, pairs: readonly string[]): CommandEntry {
  const fields = fieldsOf(pairs)
  const paymentKey = fields.get('p')
  const command = fields.get('c')
  if (paymentKey === undefined || command === undefined)
    throw new Error(`The stream entry ${entryId} is not a command.`)
  const channel = fields.get('r')
  return {
    entryId,
    partition,
    paymentKey,
    command: JSON.parse(command) as Command,
    idempotencyKey: fields.get('y') ?? null,
    record: fields.get('k') ?? null,
    replyTo: channel === undefined ? null : { channel, commandId: fields.get('i') ?? '' },
    correlationId: fields.get('x') ?? null,
    traceparent: fields.get('t') ?? null,
    deliveryCount: Number(fields.get('n') ?? 0),
    accepted: fields.get('s') ?? null,
    dueAtMs: fields.has('d') ? Number(fields.get('d')) : null
  }
}
