/**
 * How a payment is written down: `<version> <merchant id> <JSON>`.
 *
 * The head lets a script compare version and owner without parsing JSON. Field names are short and values that are
 * null or zero are left out, because the memory of a finished payment is a figure that operators pay for.
 */
import type { CommandResult } from '../../machines/commands.js'
import {
  type FailureCode,
  type HistoryEntry,
  noReferences,
  type Operation,
  operationStates,
  type Payment,
  type PaymentPhase,
  type PaymentProgress,
  type PaymentTerms,
  type Refund,
  type RefusalCode,
  type ReportedChange
} from '../../machines/model.js'
import { WrittenByNewer } from '../../machines/written-by-newer.js'
import { paymentIdOfKey } from '../keys.js'

type CodedTerms = {
  x: string
  m?: 1
  a: number
  i?: number
  s?: string
  c: [brand: string, last4: string, cardId?: string]
  u: [name: string, email: string]
  d?: PaymentTerms['metadata']
  w?: number
  t: number
}

/** The short form of a progress; `encodeProgress` says what each letter stands for. */
export type CodedProgress = {
  s: PaymentProgress['status']
  p?: PaymentPhase
  c?: number
  r?: number
  n?: (string | 0)[]
  d?: string
  x?: number
  a?: number
  k?: number
  v?: number
  f?: number
  o: [kind: Operation['kind'], state: Operation['state'], amount: number, idempotencyKey: string]
  j?: CodedRefund[]
  e?: PaymentProgress['error']
  q?: [since: number, attempts: number, next: number]
  b?: [since: number, attempts: number, next: number, reported?: ReportedChange]
  l?: PaymentProgress['reviewReason']
}

export type CodedRefund = [
  amount: number,
  state: number,
  idempotencyKey: string | 0,
  requestedAt: number,
  concludedAt: number,
  error?: FailureCode
]

type CodedLine = [
  at: number,
  event: string,
  status: HistoryEntry['status'],
  phase: PaymentPhase | 0,
  detail: string | 0,
  times?: number
]

/**
 * The newest format that this version can read. A field that is added is passed over by older versions and needs no new
 * number; they leave it out when they write the payment again. What must outlive a rolling restart is therefore read and
 * kept by one release, and set by the next. A version that changes what a field means writes its number as `z`; without
 * one a record is of format 1.
 */
const FORMAT_MAX = 1

/** The default of the window: most payments have it, so it is not written down. */
const USUAL_WINDOW_MS = 7 * 24 * 3_600_000

/** The record of a payment, as scripts store it and compare its head. */
export function encodePayment(payment: Payment): string {
  const { terms, progress, history } = payment
  const body = { t: encodeTerms(terms), p: encodeProgress(progress), h: history.map(encodeLine) }
  return `${payment.version} ${terms.merchantId} ${JSON.stringify(body)}`
}

/** Reads what `encodePayment` wrote; `paymentKey` is the id in the payment's key. Throws when the record is not readable. */
export function decodePayment(record: string, paymentKey: string): Payment {
  const versionEnd = record.indexOf(' ')
  const merchantEnd = record.indexOf(' ', versionEnd + 1)
  const body = JSON.parse(record.slice(merchantEnd + 1)) as {
    z?: number
    t: CodedTerms
    p: CodedProgress
    h: CodedLine[]
  }
  if ((body.z ?? 1) > FORMAT_MAX) {
    throw new WrittenByNewer(
      `The payment ${paymentIdOfKey(paymentKey)} is of format ${body.z}; this version reads ${FORMAT_MAX}.`
    )
  }
  return {
    version: Number(record.slice(0, versionEnd)),
    terms: decodeTerms(body.t, paymentIdOfKey(paymentKey), record.slice(versionEnd + 1, merchantEnd)),
    progress: decodeProgress(body.p),
    history: body.h.map(decodeLine)
  }
}

/** A result in the short form in which it is stored and sent. */
export type CodedResult =
  | { p: CodedProgress; f?: undefined; r?: undefined }
  | { p?: undefined; f: FailureCode; r?: undefined }
  | { p?: undefined; f?: undefined; r: RefusalCode }

/** A result as it is kept with its Idempotency-Key. */
export function encodeResult(result: CommandResult): string {
  return JSON.stringify(codeResult(result))
}

/** Reads what `encodeResult` wrote. */
export function decodeResult(text: string): CommandResult {
  return readResult(JSON.parse(text) as CodedResult)
}

/** The short form of a result, for the record and for replies (redis/commands/replies.ts). */
export function codeResult(result: CommandResult): CodedResult {
  if (result.kind === 'succeeded') return { p: encodeProgress(result.progress) }
  return result.kind === 'failed' ? { f: result.code } : { r: result.code }
}

export function readResult(value: CodedResult): CommandResult {
  if (value.p !== undefined) return { kind: 'succeeded', progress: decodeProgress(value.p) }
  if (value.f !== undefined) return { kind: 'failed', code: value.f }
  return { kind: 'refused', code: value.r }
}

export function encodeProgress(progress: PaymentProgress): CodedProgress {
  const { references: n, operation: o, reconciliation: q, notification: b } = progress
  const coded: CodedProgress = {
    s: progress.status,
    o: [o.kind, o.state, o.amountCents, o.idempotencyKey]
  }
  if (progress.phase !== null) coded.p = progress.phase
  if (progress.capturedCents > 0) coded.c = progress.capturedCents
  if (progress.refundedCents > 0) coded.r = progress.refundedCents
  const references: (string | 0)[] = [n.saleId ?? 0, n.tid ?? 0, n.nsu ?? 0, n.authorizationCode ?? 0]
  if (references.some(Boolean)) coded.n = references
  if (progress.declinedCode !== null) coded.d = progress.declinedCode
  if (progress.expiresAtMs !== null) coded.x = progress.expiresAtMs
  if (progress.authorizedAtMs !== null) coded.a = progress.authorizedAtMs
  if (progress.capturedAtMs !== null) coded.k = progress.capturedAtMs
  if (progress.canceledAtMs !== null) coded.v = progress.canceledAtMs
  if (progress.refundedAtMs !== null) coded.f = progress.refundedAtMs
  if (progress.refunds.length > 0) coded.j = progress.refunds.map(encodeRefund)
  if (progress.error !== null) coded.e = progress.error
  if (q !== null) coded.q = [q.sinceMs, q.attempts, q.nextAtMs]
  if (b !== null) {
    coded.b = [b.sinceMs, b.attempts, b.nextAtMs]
    if (b.reported !== 'change') coded.b.push(b.reported)
  }
  if (progress.reviewReason !== null) coded.l = progress.reviewReason
  return coded
}

export function decodeProgress(coded: CodedProgress): PaymentProgress {
  const [kind, state, amountCents, idempotencyKey] = coded.o
  const [saleId, tid, nsu, authorizationCode] = coded.n ?? []
  return {
    status: coded.s,
    phase: coded.p ?? null,
    capturedCents: coded.c ?? 0,
    refundedCents: coded.r ?? 0,
    references:
      coded.n === undefined
        ? noReferences
        : { saleId: saleId || null, tid: tid || null, nsu: nsu || null, authorizationCode: authorizationCode || null },
    declinedCode: coded.d ?? null,
    expiresAtMs: coded.x ?? null,
    authorizedAtMs: coded.a ?? null,
    capturedAtMs: coded.k ?? null,
    canceledAtMs: coded.v ?? null,
    refundedAtMs: coded.f ?? null,
    operation: { kind, state, amountCents, idempotencyKey },
    refunds: coded.j?.map(decodeRefund) ?? [],
    error: coded.e ?? null,
    reconciliation: decodeReconciliation(coded.q),
    notification: decodeNotification(coded.b),
    reviewReason: coded.l ?? null
  }
}

/** The short form of a refund, in records and in events (redis/webhooks/webhook-event.ts). */
export function encodeRefund(refund: Refund): CodedRefund {
  const { amountCents, state, idempotencyKey, requestedAtMs, concludedAtMs, error } = refund
  const coded: CodedRefund = [
    amountCents,
    operationStates.indexOf(state),
    idempotencyKey ?? 0,
    requestedAtMs ?? 0,
    concludedAtMs ?? 0
  ]
  if (error !== null) coded.push(error)
  return coded
}

/** Reads what `encodeRefund` wrote. Throws for a state that this version does not know. */
export function decodeRefund([amountCents, stateAt, key, requestedAt, concludedAt, error]: CodedRefund): Refund {
  const state = operationStates[stateAt]
  if (state === undefined) throw new WrittenByNewer(`A refund has state ${stateAt}, which this version does not know.`)
  return {
    amountCents,
    state,
    idempotencyKey: key === 0 ? null : key,
    requestedAtMs: requestedAt || null,
    concludedAtMs: concludedAt || null,
    error: error ?? null
  }
}

function decodeReconciliation(coded: CodedProgress['q']): PaymentProgress['reconciliation'] {
  return coded === undefined ? null : { sinceMs: coded[0], attempts: coded[1], nextAtMs: coded[2] }
}

function decodeNotification(coded: CodedProgress['b']): PaymentProgress['notification'] {
  if (coded === undefined) return null
  const [sinceMs, attempts, nextAtMs, reported = 'change'] = coded
  return { sinceMs, attempts, nextAtMs, reported }
}

function encodeTerms(terms: PaymentTerms): CodedTerms {
  const { card, customer } = terms
  // Not written down, because there is no other. A second currency does not compile here until it has a letter.
  terms.currency satisfies 'BRL'
  const coded: CodedTerms = {
    x: terms.externalReference,
    a: terms.amountCents,
    c: card.cardId === null ? [card.brand, card.last4] : [card.brand, card.last4, card.cardId],
    u: [customer.name, customer.email],
    t: terms.createdAtMs
  }
  if (terms.captureMode === 'manual') coded.m = 1
  if (terms.installments !== 1) coded.i = terms.installments
  if (terms.statementDescriptor !== null) coded.s = terms.statementDescriptor
  if (terms.metadata !== null) coded.d = terms.metadata
  if (terms.preauthTtlMs !== USUAL_WINDOW_MS) coded.w = terms.preauthTtlMs
  return coded
}

function decodeTerms(coded: CodedTerms, id: string, merchantId: string): PaymentTerms {
  const [brand, last4, cardId] = coded.c
  const [name, email] = coded.u
  return {
    id,
    merchantId,
    externalReference: coded.x,
    captureMode: coded.m === 1 ? 'manual' : 'auto',
    amountCents: coded.a,
    currency: 'BRL',
    installments: coded.i ?? 1,
    statementDescriptor: coded.s ?? null,
    card: { brand, last4, cardId: cardId ?? null },
    customer: { name, email },
    metadata: coded.d ?? null,
    preauthTtlMs: coded.w ?? USUAL_WINDOW_MS,
    createdAtMs: coded.t
  }
}

function encodeLine(line: HistoryEntry): CodedLine {
  const { atMs, event, status, phase, detail, times } = line
  return times === 1
    ? [atMs, event, status, phase ?? 0, detail ?? 0]
    : [atMs, event, status, phase ?? 0, detail ?? 0, times]
}

function decodeLine(coded: CodedLine): HistoryEntry {
  const [atMs, event, status, phase, detail, times] = coded
  return {
    atMs,
    event,
    status,
    phase: phase === 0 ? null : phase,
    detail: detail === 0 ? null : detail,
    times: times ?? 1
  }
}
