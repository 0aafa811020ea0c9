/** Erasing the buyer of a payment, as data protection law (LGPD) asks. What accounting needs stays. */
import { textsOfBuyer, withoutTexts } from '../merchant-text-rules.js'
import { isOpen, type Payment, type PaymentTerms } from '../model.js'
import { addLine, BUYER_ERASED } from './history.js'
import { isInFlight } from './machine.js'

/** In the place of the buyer. The domain is reserved: it never gets mail. */
const ERASED: PaymentTerms['customer'] = { name: 'erased', email: 'erased@erased.invalid' }

export function isBuyerErased(terms: PaymentTerms): boolean {
  const { name, email } = terms.customer
  const hasTexts = terms.metadata !== null || textsOfBuyer.some(text => terms[text] !== null)
  return name === ERASED.name && email === ERASED.email && !hasTexts
}

/** An open operation may still need what its command says of the buyer. */
export function canEraseBuyer({ progress }: Payment): boolean {
  return !isOpen(progress.operation) && !isInFlight(progress)
}

/**
 * The payment without name, e-mail address and what else of the merchant's may name the buyer: metadata, and texts of which the
 * model says so. Null when they are erased already, or can't be erased now.
 */
export function withoutBuyer(payment: Payment, nowMs: number): Payment | null {
  if (isBuyerErased(payment.terms) || !canEraseBuyer(payment)) return null
  const { version, terms, progress, history } = payment
  const { status, phase } = progress
  const line = { atMs: nowMs, event: BUYER_ERASED, status, phase, detail: null, times: 1 }
  return {
    version: version + 1,
    terms: { ...terms, ...withoutTexts(textsOfBuyer), customer: ERASED, metadata: null },
    progress,
    history: addLine(history, line)
  }
}
