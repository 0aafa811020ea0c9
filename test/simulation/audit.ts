/**
 * The independent audit at the end of a run: the merchant's state, the service's and the network's must agree, and
 * nothing may be left undone (the invariants of docs/DESIGN.md). Every line that is returned is a violation.
 */
import type { Payment, PaymentProgress } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { decide } from '../../machines/payment/decide.js'
import { vouchedPolicy } from '../../machines/payment/policy.js'
import {
  idempotencyRecordIdOf,
  keys,
  PAYMENTS_GROUP,
  partitionOf,
  paymentIdOfKey,
  paymentKeyOf
} from '../../redis/keys.js'
import { decodeIdempotency } from '../../redis/payments/idempotency.js'
import { LedgerStatus } from '../../scripts/simulator/ledger.js'
import { auditIndexes } from './audit-indexes.js'
import { auditLedger } from './audit-ledger.js'
import { auditUndelivered, auditWebhooks } from './audit-webhooks.js'
import { type FinalState, readFinalState } from './final-state.js'
import type { Installation } from './simulated-installation.js'
import type { Merchant, RequestRecord } from './simulated-merchant.js'

const FINAL = new Set(['captured', 'canceled', 'partially_refunded', 'refunded', 'charged_back', 'expired', 'failed'])

/** Everything that is wrong in a world that has come to rest. */
export function audit(installation: Installation, merchants: readonly Merchant[]): string[] {
  const state = readFinalState(installation)
  return [
    ...merchants.flatMap(merchant => merchant.complaints),
    ...merchants.flatMap(merchant => merchant.records.flatMap(record => auditRequest(state, merchant, record))),
    ...[...state.payments.values()].flatMap(payment => auditPayment(state, payment, merchants)),
    ...auditIndexes(state),
    ...auditLedger(state),
    ...auditLeftovers(state),
    ...auditUndelivered(state)
  ]
}

/** What was told is what is stored, and what was accepted has ended. */
function auditRequest(
  { payments, installation, ledger }: FinalState,
  merchant: Merchant,
  record: RequestRecord
): string[] {
  const partition = partitionOf(merchant.id, installation.config.partitions)
  const name = keys.idempotency(partition, idempotencyRecordIdOf(merchant.id, record.key))
  const text = installation.durable.data.text(name)
  if (record.refusal !== null) {
    const stored = text === null ? null : decodeIdempotency(text)
    const sales = stored === null ? [] : ledger.ofOrder(orderIdOf(paymentIdOfKey(stored.paymentKey)))
    const isCharged = sales.some(
      sale => sale.capturedAmount > sale.voidedAmount || sale.status === LedgerStatus.authorised
    )
    return isCharged ? [`${record.key}: charged although the merchant was told ${record.refusal}`] : []
  }
  if (text === null) return [`${record.key}: its idempotency record is lost`]
  const stored = decodeIdempotency(text)
  const problems: string[] = []
  if (record.paymentId !== null && paymentKeyOf(record.paymentId) !== stored.paymentKey) {
    problems.push(`${record.key}: the merchant knows another payment than the service`)
  }
  if (stored.result === null) problems.push(`${record.key}: accepted and never ended`)
  if (record.result !== null && JSON.stringify(record.result) !== JSON.stringify(stored.result)) {
    problems.push(`${record.key}: told ${JSON.stringify(record.result)}, stored ${JSON.stringify(stored.result)}`)
  }
  if (!payments.has(paymentIdOfKey(stored.paymentKey))) problems.push(`${record.key}: its payment is lost`)
  return problems
}

function auditPayment(state: FinalState, payment: Payment, merchants: readonly Merchant[]): string[] {
  const { id } = payment.terms
  const { status, phase } = payment.progress
  const problems = auditWebhooks(state, payment)
  if (!FINAL.has(status) || phase === 'releasing') problems.push(`${id}: stuck in ${status} ${phase ?? ''}`)
  problems.push(...auditRest(state, payment))
  const records = merchants.flatMap(merchant => merchant.records).filter(record => record.paymentId === id)
  return [...problems, ...auditSums(id, records, payment.progress), ...auditCaptures(state, payment, records)]
}

/** The network was asked to capture what the merchant asked for, and never another amount. */
function auditCaptures(
  { installation: { network } }: FinalState,
  { terms, progress }: Payment,
  records: readonly RequestRecord[]
): string[] {
  const requests = records.filter(({ kind }) => kind === (terms.captureMode === 'auto' ? 'create' : 'capture'))
  const asked = requests.map(({ amountCents }) => amountCents ?? terms.amountCents)
  const sent = network.capturesSent.get(progress.references.saleId ?? '') ?? []
  return [...sent].flatMap(cents =>
    asked.includes(cents) ? [] : [`${terms.id}: captures ${cents}, and the merchant asked for ${asked.join(' or ')}`]
  )
}

/** All that the network still has of a captured sale can be refunded, and not a cent more. */
function auditRest({ ledger, installation }: FinalState, payment: Payment): string[] {
  const { terms, progress } = payment
  if (progress.status !== 'captured' && progress.status !== 'partially_refunded') return []
  const sale = ledger.find(progress.references.saleId ?? '')
  const restCents = sale === undefined ? 0 : sale.capturedAmount - sale.voidedAmount
  const isTaken = (amountCents: number): boolean => {
    const refund = { type: 'CANCEL', amountCents, idempotencyKey: 'rest', nowMs: 0 } as const
    return decide(payment, refund, vouchedPolicy(installation.config)).kind === 'taken'
  }
  const isExact = (restCents === 0 || isTaken(restCents)) && !isTaken(restCents + 1)
  return isExact ? [] : [`${terms.id}: the network has ${restCents} left, and another amount can be refunded`]
}

/** What the merchant was told of each operation adds up to what the payment says. */
function auditSums(
  id: string,
  records: readonly RequestRecord[],
  figures: Pick<PaymentProgress, 'status' | 'refundedCents' | 'refunds'>
): string[] {
  const done = records.flatMap(({ kind, result }) =>
    result?.kind === 'succeeded' ? [{ kind, ...result.progress }] : []
  )
  const problems: string[] = []
  const refunds = done.filter(({ kind, operation }) => kind === 'cancel' && operation.kind === 'refund')
  const refundedCents = refunds.reduce((sum, { operation }) => sum + operation.amountCents, 0)
  for (const { operation } of refunds) {
    const listed = figures.refunds.filter(({ idempotencyKey }) => idempotencyKey === operation.idempotencyKey)
    const isListed =
      listed.length === 1 && listed[0]?.state === 'succeeded' && listed[0].amountCents === operation.amountCents
    if (!isListed) problems.push(`${id}: the refund ${operation.idempotencyKey} is not in its list as it was told`)
  }
  const captures = done.filter(({ operation }) => operation.kind === 'capture').length
  if (refundedCents !== figures.refundedCents) {
    problems.push(
      `${id}: the merchant was told of ${refundedCents} refunded, the payment says ${figures.refundedCents}`
    )
  }
  if (captures > 1) problems.push(`${id}: captured ${captures} times`)
  const isCreated = done.some(({ kind }) => kind === 'create')
  if (isCreated === (figures.status === 'failed')) problems.push(`${id}: ${figures.status}, told otherwise at creation`)
  return problems
}

/** Nothing waits any more, and nothing was given up. */
function auditLeftovers({ installation }: FinalState): string[] {
  const { data } = installation.durable
  const problems: string[] = []
  for (let partition = 0; partition < installation.config.partitions; partition++) {
    const stream = data.stream(keys.commands(partition))
    const pending = stream?.groups.get(PAYMENTS_GROUP)?.pending.size ?? 0
    if ((stream?.entries.size ?? 0) > 0)
      problems.push(`partition ${partition}: ${stream?.entries.size} commands are left`)
    if (pending > 0) problems.push(`partition ${partition}: ${pending} commands are delivered and never ended`)
    const due = (data.zset(keys.due(partition))?.size ?? 0) + (data.zset(keys.reconcile(partition))?.size ?? 0)
    if (due > 0) problems.push(`partition ${partition}: ${due} wake-ups are left`)
  }
  return problems
}
