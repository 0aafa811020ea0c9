/** Business metrics of payments, counted at each commit that changes a status. */
import { Counter, type Registry } from 'prom-client'
import { declineFailures } from '../../machines/decline-words.js'
import { declineOf } from '../../machines/declines.js'
import type { Environment, PaymentStatus } from '../../machines/model.js'
import type { Commit } from '../../redis/payments/commits.js'

/** The part of a commit that says what happened. */
export type Changed = Pick<Commit, 'payment' | 'statusBefore'>

/** Registers the counters. The returned function counts one commit that was written. */
export function createOutcomeMetrics(registry: Registry): (change: Changed, environment: Environment) => void {
  const registers = [registry]
  const authorisations = new Counter({
    name: 'card_payments_authorisations_total',
    help: 'Authorisations that ended. `outcome`: approved, declined (`reason`: `decline_reason` of docs/DECLINES.md), failed (`reason`: why there was no answer of an issuer).',
    labelNames: ['merchant', 'brand', 'outcome', 'reason'] as const,
    registers
  })
  const money = new Counter({
    name: 'card_payments_money_cents_total',
    help: 'Cents (BRL) by `flow`: captured, refunded (by merchants), charged_back. What others change at the acquirer is not counted.',
    labelNames: ['flow'] as const,
    registers
  })
  // A counter that appears with its first event hides that event from `increase()`.
  for (const flow of flows) money.inc({ flow }, 0)
  return (change, environment) => {
    const { payment, statusBefore } = change
    const { terms, progress } = payment
    if (statusBefore === progress.status) return
    if (isUndecided(statusBefore) && !isUndecided(progress.status)) {
      const { merchantId: merchant, card } = terms
      authorisations.inc({ merchant, brand: card.brand, ...authorisationOf(change, environment) })
    }
    const moved = moneyOf(change)
    if (moved !== null) money.inc({ flow: moved.flow }, moved.cents)
  }
}

const flows = ['captured', 'refunded', 'charged_back'] as const

/** Whether the issuer's answer is still open. */
function isUndecided(status: PaymentStatus): boolean {
  return status === 'pending' || status === 'unknown'
}

function authorisationOf({ payment }: Changed, environment: Environment): { outcome: string; reason: string } {
  const { terms, progress } = payment
  const { status, error, declinedCode } = progress
  if (status !== 'failed') return { outcome: 'approved', reason: '' }
  if (error === null || !declineFailures.includes(error)) return { outcome: 'failed', reason: error ?? '' }
  return { outcome: 'declined', reason: declineOf(terms.card.brand, declinedCode ?? '', environment).reason }
}

/** Statuses in which money was captured before. */
const CAPTURED_BEFORE: ReadonlySet<PaymentStatus> = new Set([
  'captured',
  'refunding',
  'partially_refunded',
  'refunded',
  'charged_back'
])

function moneyOf({ payment, statusBefore }: Changed): { flow: (typeof flows)[number]; cents: number } | null {
  const { status, capturedCents, refundedCents, operation } = payment.progress
  if (status === 'charged_back') return { flow: 'charged_back', cents: capturedCents - refundedCents }
  if (statusBefore === 'refunding') {
    const isRefunded = operation.kind === 'refund' && operation.state === 'succeeded'
    return isRefunded ? { flow: 'refunded', cents: operation.amountCents } : null
  }
  if (status === 'captured' && !CAPTURED_BEFORE.has(statusBefore)) return { flow: 'captured', cents: capturedCents }
  return null
}
