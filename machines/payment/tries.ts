/**
 * The tries of a capture, void or refund: when one may follow another, and when it is certain that none was booked.
 *
 * One rule for all operations. While the record shows the sale as before:
 *
 * | the last try                    | then |
 * | ------------------------------- | ---- |
 * | was answered with a refusal     | it ended. The operation ends with it, once the record had time to follow |
 * | was refused without a code      | it ended, but may still be booked until the not-found horizon: the operation ends there |
 * | was not answered                | it may still be booked until the not-found horizon. The next try follows: a capture or a whole void works once only and needs no horizon, a refund adds up and does |
 * | was the last one of `TRIES_MAX` | the operation ends at the horizon |
 * | asked for more than is held     | it can't be booked; the operation ends at the horizon |
 */
import type { Payment, Reconciliation, SaleVoids } from '../model.js'
import type { Policy } from './policy.js'

/** With growing gaps they cover an outage of two hours. */
export const TRIES_MAX = 6

/** The least time between two voids of a sale (ms): the acquirer may take the second for a copy (its manual, cancellation). */
export const VOID_GAP_MS = 5_000
/** The first gap between two tries of an operation is that of voids; each is so many times the one before. */
const TRY_GAP_GROWTH = 6

/** The record may be behind the answer of the other host. So long after a refusal it counts (ms). */
const REFUSAL_CONFIRMED_MS = 20_000

/** Whether there may be another try after `tries`, the last of which ended at `lastMs`. */
export function isTryDue(tries: number, lastMs: number, nowMs: number): boolean {
  return tries === 0 || (tries < TRIES_MAX && nowMs >= lastMs + VOID_GAP_MS * TRY_GAP_GROWTH ** (tries - 1))
}

/** The whole voids that were sent of a sale. Those that were counted together are those of each. */
export function voidsOf(voids: readonly SaleVoids[], saleId: string | null): Pick<SaleVoids, 'times' | 'lastMs'> {
  return voids.find(sent => sent.saleId === null || sent.saleId === saleId) ?? { times: 0, lastMs: 0 }
}

/** The same after one more void, which leaves at `lastMs`. */
export function withVoid(voids: readonly SaleVoids[], saleId: string, lastMs: number): readonly SaleVoids[] {
  const ofOthers = voids.filter(sent => sent.saleId !== null && sent.saleId !== saleId)
  return [{ times: voidsOf(voids, saleId).times + 1, lastMs, saleId }, ...ofOthers]
}

/** Whether a try without an answer may still be booked. */
export function mayArrive({ unansweredMs }: Reconciliation, policy: Policy, nowMs: number): boolean {
  // Data that came back does not know what was sent until then.
  const lastMs = Math.max(unansweredMs ?? 0, policy.unvouchedBeforeMs)
  return lastMs > 0 && nowMs < lastMs + policy.notFoundHorizonMs
}

/** Whether a request in doubt can no longer arrive (docs/DESIGN.md, 6). */
export function isBeyondHorizon(reconciliation: Reconciliation | null, policy: Policy, nowMs: number): boolean {
  if (reconciliation === null) return false
  return nowMs >= Math.max(reconciliation.sinceMs, policy.unvouchedBeforeMs) + policy.notFoundHorizonMs
}

/** What follows from a record that shows the sale as it was before the operation. */
export function nextTry(
  { progress: { status, reconciliation, operation, voids, references } }: Pick<Payment, 'progress'>,
  policy: Policy,
  nowMs: number
): 'wait' | 'send' | 'not_booked' {
  if (reconciliation === null) return 'wait'
  const { refusedMs } = reconciliation
  // The release of a hold has one state. A redelivery of its void is no further try.
  const release = voidsOf(voids, references.saleId)
  const [tries, lastMs] =
    status === 'expired' ? [release.times, release.lastMs] : [reconciliation.tries, reconciliation.sinceMs]
  const mayBeBooked = mayArrive(reconciliation, policy, nowMs)
  if (refusedMs !== null) return mayBeBooked || nowMs < refusedMs + REFUSAL_CONFIRMED_MS ? 'wait' : 'not_booked'
  if (tries >= TRIES_MAX) return mayBeBooked ? 'wait' : 'not_booked'
  const isRepeatable = operation.kind !== 'refund'
  return isTryDue(tries, lastMs, nowMs) && (isRepeatable || !mayBeBooked) ? 'send' : 'wait'
}
