/**
 * Compares the acquirer's record of a sale with the payment: one finding for each answer to a query.
 *
 * The query host is another one than the host that takes captures and refunds, and each answer may be older than the one
 * before. So what the record does not show is no contradiction until the not-found horizon.
 */
import { type Payment, placeOf } from '../model.js'
import type { Sale } from '../network.js'
import { voidedOf } from './amounts.js'
import type { Finding, FoundEvent, QueryEvent } from './events.js'
import {
  contradicted,
  isLapsed,
  type PaymentUnderPolicy,
  type ReadRecord,
  recordLags,
  unclear
} from './finding-parts.js'
import { expectedVoidedCents, type Meaning, meanings } from './findings-by-state.js'
import { besideDuplicates, ofLateSale } from './sales-to-void.js'

/** After a change of our account, a worker that was not stopped may send payments under the old one for so long (ms). */
const ACCOUNT_CHANGE_MS = 3_600_000

/** The finding that an answer is. Null: the payment waits for the outcome of its call, and for no such answer. */
export function findingOf(payment: PaymentUnderPolicy, answer: QueryEvent): Finding | null {
  const meaning = meanings[placeOf(payment.progress)]
  return meaning === undefined ? null : ofAnswer(payment, answer, meaning)
}

function ofAnswer(payment: PaymentUnderPolicy, answer: QueryEvent, { ofRecord, ofAbsence }: Meaning): Finding {
  const unlessLapsed = (finding: Finding): Finding => (isLapsed(payment, answer) ? unclear(answer) : finding)
  if (answer.type === 'NO_ANSWER') return unlessLapsed(answer)
  if (answer.type === 'ABSENT') return unlessLapsed(ofAbsence(payment, answer))
  if (answer.sale.status === 'unfinished') return unlessLapsed(recordLags(answer))
  const contradiction = contradictionIn(payment, answer)
  if (contradiction !== undefined) return unlessLapsed(contradicted(answer, contradiction))
  return besideDuplicates(payment, answer, ofOwnSale(payment, answer, ofRecord))
}

function ofOwnSale(payment: PaymentUnderPolicy, answer: FoundEvent, ofRecord: Meaning['ofRecord']): Finding {
  const read = readVoided(payment, answer)
  const finding = read === undefined ? contradicted(answer) : ofRecord(payment, read)
  if (finding.type === 'LATE_SALE') return ofLateSale(payment, answer, finding)
  // An operator sees the record as it came.
  return finding.type === 'CONTRADICTED' ? { ...finding, sale: answer.sale } : finding
}

/**
 * The answer with what was voided of what was captured. Undefined: the record says different things about it. A chargeback
 * counts all the same.
 */
function readVoided(payment: PaymentUnderPolicy, answer: FoundEvent): ReadRecord | undefined {
  const { sale } = answer
  const context = { terms: payment.terms, facts: payment.progress }
  const voided = voidedOf(sale, context, expectedVoidedCents(payment))
  if (voided === undefined && !sale.isChargedBack) return undefined
  const { cents = null, isUncapturedCounted = false } = voided ?? {}
  return { ...answer, sale: { ...sale, voidedCents: cents }, ...(isUncapturedCounted && { isUncapturedCounted }) }
}

/**
 * Whether an absence in our present account says nothing about a payment: its sale may be in an account used before.
 * `accountSinceMs`: since when the present one is in use; 0: no other one was in use before. Both by the service's clock.
 */
export function mayBeInEarlierAccount(createdAtMs: number, accountSinceMs: number): boolean {
  return createdAtMs < accountSinceMs + ACCOUNT_CHANGE_MS
}

interface Contradiction {
  readonly means: string
  readonly isIn: (sale: Sale, payment: Payment, answer: FoundEvent) => boolean
}

/**
 * What a record of a sale can't say, in any state of its payment. Such a record decides nothing; the payment is listed for
 * manual review. docs/MACHINES.md has the same list.
 */
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
function contradictionIn(payment: Payment, answer: FoundEvent): string | undefined {
  return contradictions.find(({ isIn }) => isIn(answer.sale, payment, answer))?.means
}
