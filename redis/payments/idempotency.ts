/**
 * What an Idempotency-Key is remembered by: `[<format>,<result>,"<fingerprint>","<payment key>",<kind>]`.
 *
 * While the request is in progress, or its outcome unknown, a 0 stands in the place of the result. It is the head of the
 * record, so that a script can put the result there (includes/store_result.lua). Who came first is decided by accept_payment.lua
 * and accept_operation.lua.
 */
import type { CommandResult } from '../../machines/commands.js'
import { numbered, required, storedValue } from '../stored-fields.js'
import { storedResult } from './payment-record.js'

export interface IdempotencyValue {
  readonly fingerprint: string
  /** Payment key of the payment. */
  readonly paymentKey: string
  readonly kind: 'create' | 'capture' | 'cancel'
  readonly result: CommandResult | null
}

const stored = storedValue<IdempotencyValue>('idempotency record', {
  result: [null, storedResult],
  fingerprint: [required],
  paymentKey: [required],
  kind: ['create', numbered(['create', 'capture', 'cancel'])]
})

/** The record of a request that was accepted, or refused at once. */
export const encodeIdempotency = stored.encode

/** Reads a record, with its result or without. Throws as `storedValue` does. */
export const decodeIdempotency = stored.decode

/** A result as scripts put it into a record that has none; undefined for no result. */
export function encodeResult(result: CommandResult | null): string | undefined {
  return result === null ? undefined : JSON.stringify(storedResult.encode(result))
}
