/** A payment as operators see it: figures, references, and its history as a timeline. */
import { presentRefund } from '../../contract/payment-parts.js'
import type { HistoryEntry, Payment, Reconciliation } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { type Field, fieldLines, isoTime, listing, secondsText, table } from './output.js'
import { adviceText } from './review-advice.js'

/** Everything about a payment but the buyer; times are ISO 8601. */
export function presentForOperators({ version, terms, progress, history }: Payment): Record<string, unknown> {
  const { references, operation } = progress
  return {
    payment_id: terms.id,
    merchant_id: terms.merchantId,
    external_reference: terms.externalReference,
    status: progress.status,
    phase: progress.phase,
    amount_cents: terms.amountCents,
    authorized_cents: progress.authorizedCents,
    captured_cents: progress.capturedCents,
    refunded_cents: progress.refundedCents,
    card: { brand: terms.card.brand, last4: terms.card.last4 },
    operation: { kind: operation.kind, state: operation.state, amount_cents: operation.amountCents },
    refunds: progress.refunds.map(presentRefund),
    error: progress.error,
    declined_code: progress.declinedCode,
    network: {
      order_id: orderIdOf(terms.id),
      sale_id: references.saleId,
      tid: references.tid,
      nsu: references.nsu,
      authorization_code: references.authorizationCode
    },
    created_at: isoTime(terms.createdAtMs),
    expires_at: isoTime(progress.expiresAtMs),
    in_doubt: presentDoubt(progress.reconciliation),
    next_query_at: isoTime(progress.reconciliation?.nextAtMs ?? progress.verification?.nextAtMs ?? null),
    review_reason: progress.reviewReason,
    version,
    history: history.map(presentLine)
  }
}

/** What is known of an outcome in doubt; null while nothing is. */
function presentDoubt(doubt: Reconciliation | null): Record<string, unknown> | null {
  if (doubt === null) return null
  return {
    since: isoTime(doubt.openedMs),
    tries: doubt.tries,
    refused_at: isoTime(doubt.refusedMs),
    concluded: doubt.concluded
  }
}

/** The figures, then the timeline. */
export function showText(payment: Payment): string {
  const { history: _, refunds: __, card, operation, network, in_doubt, ...fields } = presentForOperators(payment)
  const parts = { card, operation, network, in_doubt: in_doubt ?? {} }
  const all = { ...fields, ...Object.assign({}, ...Object.entries(parts).map(([name, part]) => flat(name, part))) }
  const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
  return `${fieldLines(known)}\n\n${adviceText(payment)}${refundsText(payment)}${historyText(payment)}`
}

/** One line per refund; '' without one. */
function refundsText({ progress }: Payment): string {
  if (progress.refunds.length === 0) return ''
  const { text } = listing(progress.refunds, REFUND_FIELDS, '')
  return `${text}\n\n`
}

const REFUND_FIELDS: readonly Field<Payment['progress']['refunds'][number]>[] = [
  ['requested_at', refund => (refund.idempotencyKey === null ? 'outside this service' : isoTime(refund.requestedAtMs))],
  ['concluded_at', ({ concludedAtMs }) => isoTime(concludedAtMs)],
  ['amount_cents', ({ amountCents }) => amountCents],
  ['state', ({ state }) => state],
  ['error', ({ error }) => error],
  ['idempotency_key', ({ idempotencyKey }) => idempotencyKey]
]

/** One line per event: when, how long after the one before, what happened, where it led. */
export function historyText({ terms, history }: Payment): string {
  const first = [isoTime(terms.createdAtMs), '', 'accepted', 'pending', '']
  let beforeMs = terms.createdAtMs
  const rows = history.map(line => {
    const gap = `+${gapText(line.atMs - beforeMs)}`
    beforeMs = line.atMs
    const times = line.times > 1 ? ` (${line.times} times)` : ''
    return [isoTime(line.atMs), gap, `${line.event}${times}`, placeText(line), line.detail ?? '']
  })
  return table(['TIME', 'AFTER', 'EVENT', 'STATUS', 'DETAIL'], [first, ...rows], '')
}

function presentLine(line: HistoryEntry): Record<string, unknown> {
  const { atMs, event, status, phase, detail, times } = line
  return { at: isoTime(atMs), event, status, phase, detail, times }
}

function placeText({ status, phase }: HistoryEntry): string {
  return phase === null ? status : `${status} (${phase})`
}

function gapText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return secondsText(ms)
  if (ms < 3_600_000) return `${(ms / 60_000).toFixed(1)} min`
  return ms < 86_400_000 ? `${(ms / 3_600_000).toFixed(1)} h` : `${(ms / 86_400_000).toFixed(1)} d`
}

function flat(name: string, value: unknown): Record<string, unknown> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return Object.fromEntries(entries.map(([key, inner]) => [`${name}.${key}`, inner]))
}
