/** Erasing the buyer of a payment, as data protection law (LGPD) asks. What accounting needs stays. */
import { isOpen, type Payment, type PaymentTerms } from '../model.js'
import { isUnderWay } from './decide.js'
import { addLine, BUYER_ERASED } from './history.js'

/** In the place of the buyer. The domain is reserved: it never gets mail. */
const ERASED: PaymentTerms['customer'] = { name: 'erased', email: 'erased@erased.invalid' }

export function isBuyerErased({ customer: { name, email }, metadata }: PaymentTerms): boolean {
  return name === ERASED.name && email === ERASED.email && metadata === null
}

/** An open operation may still need what its command says of the buyer. */
export function canEraseBuyer({ progress }: Payment): boolean {
  return !isOpen(progress.operation) && !isUnderWay(progress)
}

/**
 * The payment without name, e-mail address and metadata, which is text of the merchant and may name the buyer. Null when
 * they are erased already, or can't be erased now.
 */
export function withoutBuyer(payment: Payment, nowMs: number): Payment | null {
  if (isBuyerErased(payment.terms) || !canEraseBuyer(payment)) return null
  const { version, terms, progress, history } = payment
  const { status, phase } = progress
  const line = { atMs: nowMs, event: BUYER_ERASED, status, phase, detail: null, times: 1 }
  return {
    version: version + 1,
    terms: { ...terms, customer: ERASED, metadata: null },
    progress,
    history: addLine(history, line)
  }
}
