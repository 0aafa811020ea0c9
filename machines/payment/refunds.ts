/**
 * The list of a payment's refunds. Pure.
 *
 * Succeeded refunds add up to what the acquirer's record shows as voided. The list is bounded: see `takesRefund`.
 */
import type { Refund } from '../model.js'
import { refundableCents, voidedElsewhereCents } from './amounts.js'
import type { Facts } from './context.js'
import type { RequestEvent } from './events.js'

/**
 * Refunds of a payment that may be open or done. The whole list is in its record, in each event and in each result: without
 * a bound, one payment would grow by the square of its refunds.
 */
export const REFUNDS_MAX = 100

/** Whether there is room for a refund of this amount. A refund of the whole rest is always possible. */
export function takesRefund(facts: Facts, amountCents: number): boolean {
  const kept = facts.refunds.filter(({ state }) => state !== 'failed').length
  return kept < REFUNDS_MAX || amountCents === refundableCents(facts)
}

/** Whether the payment has a refund under this key. */
export function hasRefundOf({ refunds }: Pick<Facts, 'refunds'>, idempotencyKey: string): boolean {
  return refunds.some(refund => refund.idempotencyKey === idempotencyKey)
}

/** A refund that the payment has under the key of a request; `other`: another request made it. */
export type KnownRefund = Pick<Refund, 'state' | 'error'> | 'other'

/**
 * The refund that the payment has under the key of a request; null: none. The request itself is not remembered: one for all
 * that is left leaves nothing, when it succeeds. A refund that was reversed in part is in the list twice.
 */
export function knownRefund(facts: Facts, { type, amountCents, idempotencyKey }: RequestEvent): KnownRefund | null {
  if (type !== 'CANCEL') return null
  const { refunds } = facts
  const newest = refunds.findLast(refund => refund.idempotencyKey === idempotencyKey)
  if (newest === undefined) return null
  const parts = refunds.filter(
    refund => refund.idempotencyKey === idempotencyKey && refund.requestedAtMs === newest.requestedAtMs
  )
  const left = parts.find(({ state }) => state !== 'failed') ?? newest
  const isOther =
    amountCents === null
      ? left.state === 'succeeded' && refundableCents(facts) > 0
      : amountCents !== parts.reduce((cents, part) => cents + part.amountCents, 0)
  return isOther ? 'other' : left
}

/** The list with a refund that begins now. Of a full list, the oldest refunds that failed make room. */
export function withNewRefund(
  { refunds }: Facts,
  amountCents: number,
  idempotencyKey: string,
  nowMs: number
): readonly Refund[] {
  const begun: Refund = {
    amountCents,
    state: 'in_progress',
    idempotencyKey,
    requestedAtMs: nowMs,
    concludedAtMs: null,
    error: null
  }
  return bounded([...refunds, begun])
}

/**
 * The list with what was refunded outside this service: one entry without an Idempotency-Key, because the acquirer's
 * record shows only the sum.
 */
export function withElsewhere({ refunds }: Facts, amountCents: number, nowMs: number): readonly Refund[] {
  if (voidedElsewhereCents(refunds) === amountCents) return refunds
  const own = refunds.filter(({ idempotencyKey }) => idempotencyKey !== null)
  if (amountCents === 0) return own
  const elsewhere: Refund = {
    amountCents,
    state: 'succeeded',
    idempotencyKey: null,
    requestedAtMs: null,
    concludedAtMs: nowMs,
    error: null
  }
  return [...own, elsewhere]
}

/**
 * The list after the network reversed `amountCents` of our refunds. The acquirer's record shows only the sum: it is the
 * newest refund of exactly this amount, or else the newest ones, the last of them perhaps in part.
 */
export function withReversal({ refunds }: Facts, amountCents: number, nowMs: number): readonly Refund[] {
  const isOwn = ({ state, idempotencyKey }: Refund): boolean => state === 'succeeded' && idempotencyKey !== null
  const reversal = { state: 'failed', concludedAtMs: nowMs, error: 'refund_reversed' } as const
  const exact = refunds.findLastIndex(refund => isOwn(refund) && refund.amountCents === amountCents)
  if (exact >= 0)
    return bounded(refunds.map((refund, index) => (index === exact ? { ...refund, ...reversal } : refund)))
  let leftCents = amountCents
  const after = refunds.toReversed().flatMap(refund => {
    if (!isOwn(refund) || leftCents === 0) return [refund]
    const takenCents = Math.min(leftCents, refund.amountCents)
    leftCents -= takenCents
    const reversed = { ...refund, ...reversal, amountCents: takenCents }
    const restCents = refund.amountCents - takenCents
    return restCents === 0 ? [reversed] : [reversed, { ...refund, amountCents: restCents }]
  })
  return bounded(after.toReversed())
}

function bounded(refunds: readonly Refund[]): readonly Refund[] {
  let surplus = refunds.length - REFUNDS_MAX
  return surplus <= 0 ? refunds : refunds.filter(({ state }) => state !== 'failed' || surplus-- <= 0)
}
