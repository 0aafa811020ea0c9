/**
 * How a payment is stored: `[<format>,<version>,"<merchant id>",[terms],[progress],[history]]`.
 *
 * Its head lets a script compare the version without parsing JSON. Defaults are left out (stored-fields.ts): the memory of
 * a finished payment is a figure that operators pay for.
 *
 * An older version passes over a row that it does not know, and drops its value when it writes the payment again. So one
 * release adds the row, and the next one sets it, where the value must outlive a rolling restart.
 */
import type { CommandResult } from '../../machines/commands.js'
import { DAY_MS } from '../../machines/durations.js'
import {
  type FailureCode,
  type HistoryEntry,
  noReferences,
  type Operation,
  operationKinds,
  operationStates,
  type Payment,
  type PaymentProgress,
  type PaymentTerms,
  type Reconciliation,
  type Refund,
  type RefusalCode,
  type SaleVoids,
  type Verification
} from '../../machines/model.js'
import { paymentIdOfKey } from '../keys.js'
import { DamagedValue, type Format, many, numbered, required, storedList, storedValue } from '../stored-fields.js'

/** The default of the window: most payments have it, so it is not stored. */
const USUAL_WINDOW_MS = 7 * DAY_MS

type OwnTerms = Omit<PaymentTerms, 'id' | 'merchantId'>

const storedTerms = storedList<OwnTerms>({
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

/** In records and in webhook events. */
export const storedOperation = storedList<Operation>({
  kind: ['authorization', numbered(operationKinds)],
  state: ['in_progress', numbered(operationStates)],
  amountCents: [0],
  idempotencyKey: [required]
})

/** In records and in webhook events. */
export const storedRefunds = many(
  storedList<Refund>({
    amountCents: [0],
    state: ['in_progress', numbered(operationStates)],
    idempotencyKey: [null],
    requestedAtMs: [null],
    concludedAtMs: [null],
    error: [null]
  })
)

const saleVoids = { times: [0], lastMs: [0], saleId: [null] } as const

/** The first sale, and at its end the others. */
const storedLastVoids = storedList<SaleVoids & { readonly ofOthers: readonly SaleVoids[] }>({
  ...saleVoids,
  ofOthers: [[], many(storedList<SaleVoids>(saleVoids))]
})

const storedVoids: Format<readonly SaleVoids[], unknown[]> = {
  encode: ([last, ...ofOthers]) => (last === undefined ? [] : storedLastVoids.encode({ ...last, ofOthers })),
  decode(stored) {
    const { ofOthers, ...last } = storedLastVoids.decode(stored)
    return [last, ...ofOthers]
  }
}

/** What a captured payment has comes first: the rest of its list is left out. */
export const storedProgress = storedList<PaymentProgress>({
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
  reconciliation: [
    null,
    storedList<Reconciliation>({
      sinceMs: [0],
      attempts: [0],
      nextAtMs: [0],
      openedMs: [0],
      tries: [0],
      unansweredMs: [null],
      refusedMs: [null],
      concluded: [null]
    })
  ],
  expiresAtMs: [null],
  declinedCode: [null],
  error: [null],
  refundedCents: [0],
  refundedAtMs: [null],
  refunds: [[], storedRefunds],
  canceledAtMs: [null],
  verification: [null, storedList<Verification>({ sinceMs: [0], attempts: [0], nextAtMs: [0], reported: ['change'] })],
  reviewReason: [null],
  authorizedCents: [null],
  voids: [[], storedVoids]
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

interface StoredPayment extends Omit<Payment, 'terms'> {
  readonly merchantId: string
  readonly terms: OwnTerms
}

/** Scripts compare the version: it comes first. */
const storedPayment = storedValue<StoredPayment>('payment', {
  version: [required],
  merchantId: [required],
  terms: [required, storedTerms],
  progress: [required, storedProgress],
  history: [[], storedHistory]
})

/** The record of a payment: its id is in its key. */
export function encodePayment({ version, terms, progress, history }: Payment): string {
  return storedPayment.encode({ version, merchantId: terms.merchantId, terms, progress, history })
}

/** A payment whose record can't be read. An operator has to bring the record back. */
export class DamagedPayment extends DamagedValue {
  readonly paymentId: string

  constructor(paymentId: string, message: string) {
    super(message)
    this.paymentId = paymentId
  }
}

/** Reads what `encodePayment` wrote; `paymentKey` is the id in the payment's key. Throws as `storedValue` does, but `DamagedPayment`. */
export function decodePayment(record: string, paymentKey: string): Payment {
  const id = paymentIdOfKey(paymentKey)
  try {
    const { version, merchantId, terms, progress, history } = storedPayment.decode(record)
    return { version, terms: { id, merchantId, ...terms }, progress, history }
  } catch (error) {
    throw error instanceof DamagedValue ? new DamagedPayment(id, error.message) : error
  }
}

/** In a result that has no progress, or no code. */
interface ResultParts {
  readonly kind: CommandResult['kind']
  readonly code: FailureCode | RefusalCode | null
  readonly progress: PaymentProgress | null
}

const resultParts = storedList<ResultParts>({
  kind: ['succeeded', numbered(['succeeded', 'failed', 'refused'])],
  code: [null],
  progress: [null, storedProgress]
})

/** A result as it is kept with its Idempotency-Key, and sent to the request that waits for it: never an empty list. */
export const storedResult: Format<CommandResult, unknown[]> = {
  encode: result =>
    resultParts.encode(
      result.kind === 'succeeded'
        ? { kind: result.kind, code: null, progress: result.progress }
        : { kind: result.kind, code: result.code, progress: null }
    ),
  decode(stored) {
    const { kind, code, progress } = resultParts.decode(stored)
    if (kind === 'succeeded' && progress !== null) return { kind, progress }
    if (kind === 'failed' && code !== null) return { kind, code: code as FailureCode }
    if (kind === 'refused' && code !== null) return { kind, code: code as RefusalCode }
    throw new DamagedValue(`A stored result that is ${kind} lacks what it is about.`)
  }
}
