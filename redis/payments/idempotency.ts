/**
 * What an Idempotency-Key is remembered by: `<P|D> <fingerprint> <payment key> <kind>[ <result>]`.
 *
 * `P`: the request is in progress (or its outcome unknown); `D`: it has ended, the result follows. The scripts
 * commit.lua and finish.lua turn the first into the second by exchanging the letter and appending the result.
 */
import type { CommandResult } from '../../machines/commands.js'
import { decodeResult, encodeResult } from './payment-record.js'

export interface IdempotencyValue {
  readonly fingerprint: string
  /** Payment key of the payment. */
  readonly paymentKey: string
  readonly kind: 'create' | 'capture' | 'cancel'
  readonly result: CommandResult | null
}

/** The record of a request that was accepted, or refused at once. */
export function encodeIdempotency({ fingerprint, paymentKey, kind, result }: IdempotencyValue): string {
  const request = `${fingerprint} ${paymentKey} ${kind}`
  return result === null ? `P ${request}` : `D ${request} ${encodeResult(result)}`
}

/** Reads a record, with its result or without. Throws when another version wrote what this one can't read. */
export function decodeIdempotency(text: string): IdempotencyValue {
  const match = /^([PD]) (\S+) (\S+) (create|capture|cancel)(?: (.*))?$/s.exec(text)
  if (match === null) throw new Error('An idempotency record is not readable; it was written by another version.')
  const [, , fingerprint = '', paymentKey = '', kind = '', result] = match
  return {
    fingerprint,
    paymentKey,
    kind: kind as IdempotencyValue['kind'],
    result: result === undefined ? null : decodeResult(result)
  }
}
