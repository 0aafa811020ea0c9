/**
 * What a record of a sale can't say, in any state of its payment: one row for each. Such a record decides nothing; the
 * payment is listed for manual review. docs/MACHINES.md has the same list. Pure.
 */
import type { Payment } from '../model.js'
import type { Sale } from '../network.js'
import type { FoundEvent } from './events.js'

interface Contradiction {
  readonly means: string
  readonly isIn: (sale: Sale, payment: Payment, answer: FoundEvent) => boolean
}

export const contradictions: readonly Contradiction[] = [
  {
    means: 'the sale of the payment is not in the record, and another one is',
    isIn: (_, { progress }, { isOther }) => isOther && progress.status !== 'failed'
  },
  { means: 'another currency', isIn: ({ currency }, { terms }) => currency !== null && currency !== terms.currency },
  {
    means: 'captured, and the captured amount is 0',
    isIn: ({ status, capturedCents }) => status === 'captured' && capturedCents === 0
  },
  {
    means: 'voided or refunded as a whole after a capture, and the voided amount is 0',
    isIn: ({ status, capturedCents, voidedCents }, { progress }) =>
      status === 'voided' && voidedCents === 0 && Math.max(capturedCents, progress.capturedCents) > 0
  }
]

/** How the record contradicts itself or the payment; undefined: it does not. */
export function contradictionIn(payment: Payment, answer: FoundEvent): string | undefined {
  return contradictions.find(({ isIn }) => isIn(answer.sale, payment, answer))?.means
}
