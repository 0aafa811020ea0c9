/**
 * How a payment is stored: `<version> <merchant id> <JSON>`.
 *
 * The head lets a script compare the version without parsing JSON. The body is a list of lists (stored-fields.ts): the
 * memory of a finished payment is a figure that operators pay for.
 *
 * An older version passes over a row that it does not know, and drops its value when it writes the payment again. So one
 * release adds the row, and the next one sets it, where the value must outlive a rolling restart.
 */
import type { CommandResult } from '../../machines/commands.js'
import {
  type FailureCode,
  type HistoryEntry,
  type Notification,
  noReferences,
  type Operation,
  operationKinds,
  operationStates,
  type Payment,
  type PaymentProgress,
  type PaymentTerms,
  type Reconciliation,
  type Refund,
  type RefusalCode
} from '../../machines/model.js'
import { WrittenByNewer } from '../../machines/written-by-newer.js'
import { paymentIdOfKey } from '../keys.js'
import { many, oneOf, required, storedList } from '../stored-fields.js'

/** The default of the window: most payments have it, so it is not stored. */
const USUAL_WINDOW_MS = 7 * 24 * 3_600_000

const storedTerms = storedList<Omit<PaymentTerms, 'id' | 'merchantId'>>({
  externalReference: [required],
  amountCents: [0],
  createdAtMs: [0],
  card: [required, storedList<PaymentTerms['card']>({ brand: [required], last4: [required], cardId: [null] })],
  customer: [required, storedList<PaymentTerms['customer']>({ name: [required], email: [required] })],
  captureMode: ['auto'],
  installments: [1],
  preauthTtlMs: [USUAL_WINDOW_MS],
  statementDescriptor: [null],
  metadata: [null],
  currency: ['BRL']
})

const storedOperation = storedList<Operation>({
  kind: ['authorization', oneOf(operationKinds)],
  state: ['in_progress', oneOf(operationStates)],
  amountCents: [0],
  idempotencyKey: [required]
})

/** In records and in webhook events. */
export const storedRefunds = many(
  storedList<Refund>({
    amountCents: [0],
    state: ['in_progress', oneOf(operationStates)],
    idempotencyKey: [null],
    requestedAtMs: [null],
    concludedAtMs: [null],
    error: [null]
  })
)

/** What a captured payment has comes first: the rest of its list is left out. */
const storedProgress = storedList<PaymentProgress>({
  status: [required],
  operation: [required, storedOperation],
  capturedCents: [0],
  references: [
    noReferences,
    storedList<PaymentProgress['references']>({ saleId: [null], tid: [null], nsu: [null], authorizationCode: [null] })
  ],
  authorizedAtMs: [null],
  capturedAtMs: [null],
  phase: [null],
  reconciliation: [null, storedList<Reconciliation>({ sinceMs: [0], attempts: [0], nextAtMs: [0] })],
  expiresAtMs: [null],
  declinedCode: [null],
  error: [null],
  refundedCents: [0],
  refundedAtMs: [null],
  refunds: [[], storedRefunds],
  canceledAtMs: [null],
  notification: [null, storedList<Notification>({ sinceMs: [0], attempts: [0], nextAtMs: [0], reported: ['change'] })],
  reviewReason: [null]
})

const storedHistory = many(
  storedList<HistoryEntry>({
    atMs: [0],
    event: [required],
    status: [required],
    phase: [null],
    detail: [null],
    times: [1]
  })
)

/** The record of a payment, as scripts store it and compare its head. */
export function encodePayment({ version, terms, progress, history }: Payment): string {
  const parts = [
    JSON.stringify(storedTerms.encode(terms)),
    encodeProgress(progress),
    JSON.stringify(storedHistory.encode(history))
  ]
  return `${version} ${terms.merchantId} [${parts.join()}]`
}

/** Reads what `encodePayment` wrote; `paymentKey` is the id in the payment's key. Throws when the record is not readable. */
export function decodePayment(record: string, paymentKey: string): Payment {
  const versionEnd = record.indexOf(' ')
  const merchantEnd = record.indexOf(' ', versionEnd + 1)
  const body: unknown = JSON.parse(record.slice(merchantEnd + 1))
  // A body of another form lacks everything.
  const [terms = [], progress = [], history = []] = Array.isArray(body) ? (body as unknown[][]) : []
  const merchantId = record.slice(versionEnd + 1, merchantEnd)
  return {
    version: Number(record.slice(0, versionEnd)),
    terms: { id: paymentIdOfKey(paymentKey), merchantId, ...storedTerms.decode(terms) },
    progress: storedProgress.decode(progress),
    history: storedHistory.decode(history as unknown[][])
  }
}

/** A commit writes the same progress into the record, the result and the reply: it is encoded once. */
let last: { readonly progress: PaymentProgress | null; readonly text: string } = { progress: null, text: '' }

export function encodeProgress(progress: PaymentProgress): string {
  if (last.progress !== progress) last = { progress, text: JSON.stringify(storedProgress.encode(progress)) }
  return last.text
}

/** Reads what `encodeProgress` wrote. */
export function decodeProgress(text: string): PaymentProgress {
  return storedProgress.decode(JSON.parse(text) as unknown[])
}

/** A result as it is kept with its Idempotency-Key, and sent to the request that waits for it. */
export function encodeResult(result: CommandResult): string {
  if (result.kind === 'succeeded') return `{"p":${encodeProgress(result.progress)}}`
  return JSON.stringify(result.kind === 'failed' ? { f: result.code } : { r: result.code })
}

/** Reads what `encodeResult` wrote. */
export function decodeResult(text: string): CommandResult {
  const { p, f, r } = JSON.parse(text) as { p?: unknown[]; f?: FailureCode; r?: RefusalCode }
  if (p !== undefined) return { kind: 'succeeded', progress: storedProgress.decode(p) }
  if (f !== undefined) return { kind: 'failed', code: f }
  if (r !== undefined) return { kind: 'refused', code: r }
  throw new WrittenByNewer('A stored result is of a kind that this version does not know.')
}
