/** The network's ledger against the payments: at most one charge, and every figure the same. */
import { type Payment, placeOf } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { knownVoidedCents, voidedElsewhereCents } from '../../machines/payment/amounts.js'
import { type LedgerSale, LedgerStatus } from '../../scripts/simulator/ledger.js'
import type { FinalState } from './final-state.js'
import { KNOWN_ORDER } from './known-sale.js'

/** Longer than a sleep, a late request and the difference of two clocks together, in the simulation. */
const SUSPENDED_MS = 35_000
const TAKEN = new Set(['captured', 'partially_refunded', 'refunded', 'charged_back'])

export function auditLedger({ payments, ledger, installation: { network, config } }: FinalState): string[] {
  const orders = new Map([...payments.values()].map(payment => [orderIdOf(payment.terms.id), payment]))
  const problems: string[] = []
  for (const sale of ledger.sales()) {
    if (!orders.has(sale.merchantOrderId) && sale.merchantOrderId !== KNOWN_ORDER)
      problems.push(`sale ${sale.merchantOrderId}: there is no such payment`)
    if (network.givenBackTwice.has(sale.paymentId))
      problems.push(`sale ${sale.merchantOrderId}: given back after a chargeback that was shown`)
  }
  for (const [orderId, payment] of orders) {
    problems.push(...auditOrder(payment, ledger.ofOrder(orderId)))
    problems.push(...auditAge(payment, ledger.find(payment.progress.references.saleId ?? ''), config.authoriseWithinMs))
    problems.push(...auditOthers(payment, network.refundedByHand(payment.progress.references.saleId ?? '')))
  }
  return problems
}

/** No sale is made of a payment that has waited for too long. A worker may be suspended between its look at the clock and the call. */
function auditAge({ terms }: Payment, sale: LedgerSale | undefined, withinMs: number): string[] {
  const ageMs = (sale?.receivedAtMs ?? 0) - terms.createdAtMs
  return ageMs > withinMs + SUSPENDED_MS ? [`${terms.id}: authorised at the age of ${ageMs} ms`] : []
}

/**
 * What is ascribed to others was done by others: a refund or void of the service must not be mistaken for theirs. While a
 * refund is in doubt it cannot be told from one of the same amount that was made outside the service.
 */
function auditOthers({ terms, progress, history }: Payment, byHandCents: number): string[] {
  const { status, refunds } = progress
  const elsewhereCents = voidedElsewhereCents(refunds)
  const hadDoubt = history.some(line => placeOf(line) === 'refunding.reconciling')
  if (!TAKEN.has(status) || hadDoubt || elsewhereCents === byHandCents) return []
  return [`${terms.id}: ascribes ${elsewhereCents} to others, who gave back ${byHandCents}`]
}

function auditOrder({ terms, progress }: Payment, sales: readonly LedgerSale[]): string[] {
  const { id } = terms
  const problems: string[] = []
  const { status, capturedCents, refundedCents, refunds, references } = progress
  const charged = sales.filter(sale => sale.capturedAmount > 0)
  // A second sale under the order must be undone, by us or by its issuer; a payment without a sale of its own may not have any.
  const own = charged.filter(sale => references.saleId === null || sale.paymentId === references.saleId)
  const twice = charged.filter(sale => !own.includes(sale) && keptCents(sale) > 0)
  if (own.length > 1 || twice.length > 0) problems.push(`${id}: charged ${own.length + twice.length} times`)
  if (!(0 <= refundedCents && refundedCents <= capturedCents && capturedCents <= terms.amountCents)) {
    problems.push(`${id}: refunded ${refundedCents} of captured ${capturedCents} of ${terms.amountCents}`)
  }
  if (TAKEN.has(status)) {
    const captured = sum(own, sale => sale.capturedAmount)
    const voided = sum(own, sale => sale.voidedAmount)
    if (captured !== capturedCents) problems.push(`${id}: captured ${capturedCents}, the network ${captured}`)
    if (voided !== knownVoidedCents(progress)) {
      const elsewhereCents = voidedElsewhereCents(refunds)
      problems.push(`${id}: refunded ${refundedCents} and ${elsewhereCents} by others, the network ${voided}`)
    }
    const listed = sum(
      refunds.filter(({ state }) => state === 'succeeded'),
      refund => refund.amountCents
    )
    if (voided !== listed) problems.push(`${id}: lists refunds of ${listed}, the network has refunded ${voided}`)
    if (status !== 'charged_back' && own.some(sale => sale.chargebackCase !== null)) {
      problems.push(`${id}: is ${status}, and the network has charged it back`)
    }
  } else {
    if (refunds.length > 0) problems.push(`${id}: is ${status}, and lists refunds`)
    const kept = sum(sales, keptCents)
    if (kept !== 0) problems.push(`${id}: is ${status}, and the network has charged ${kept}`)
  }
  const held = sales.filter(sale => sale.status === LedgerStatus.authorised).length
  if (held > 0 && status !== 'pre_authorized')
    problems.push(`${id}: is ${status}, and the network still holds the amount`)
  return problems
}

/** What the buyer has not got back, from us or from the issuer. */
function keptCents({ capturedAmount, voidedAmount, chargebackCase }: LedgerSale): number {
  return capturedAmount === 0 || chargebackCase !== null ? 0 : capturedAmount - voidedAmount
}

function sum<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((total, item) => total + figure(item), 0)
}
