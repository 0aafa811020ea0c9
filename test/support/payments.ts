/** Builders with defaults: a test names what it is about, and nothing else. */
import type { Command } from '../../machines/commands.js'
import { type MerchantTexts, noTexts } from '../../machines/merchant-text-rules.js'
import {
  newPayment,
  type Payment,
  type PaymentProgress,
  type PaymentTerms,
  type Reconciliation,
  type Refund
} from '../../machines/model.js'
import type { Buyer, NetworkReferences, Sale } from '../../machines/network.js'
import type { Policy } from '../../machines/payment/policy.js'
import { type CommandEntry, encodeEntry } from '../../redis/commands/command-entry.js'
import { idempotencyRecordIdOf, newPaymentId, paymentKeyOf } from '../../redis/keys.js'
import type { Acceptance } from '../../redis/payments/payments.js'

export const PARTITION = 3
export const MERCHANT = 'm_0000000001'
/** The moment at which all built payments are created. */
export const CREATED_MS = Date.UTC(2026, 0, 2, 12)
export const DAY_MS = 24 * 3_600_000

export const references: NetworkReferences = {
  saleId: '11111111-2222-4333-8444-555555555555',
  tid: '0101120000001',
  nsu: '123456',
  authorizationCode: '654321'
}

export const policy: Policy = {
  environment: 'test',
  reconcileDelaysMs: [2_000, 5_000, 15_000],
  notFoundHorizonMs: 600_000,
  reconcileListAfterMs: 72 * 3_600_000,
  unvouchedBeforeMs: 0
}

export const buyer: Buyer = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  document: '52998224725',
  phone: '11987654321',
  address: {
    zipCode: '01310100',
    street: 'Avenida Paulista',
    number: '1000',
    complement: null,
    district: 'Bela Vista',
    city: 'Sao Paulo',
    state: 'SP'
  }
}

export function someTerms(changes: Partial<PaymentTerms> = {}): PaymentTerms {
  return {
    id: newPaymentId(PARTITION, Date.now()),
    merchantId: MERCHANT,
    externalReference: 'order-1',
    captureMode: 'auto',
    amountCents: 1_000,
    currency: 'BRL',
    installments: 1,
    ...noTexts,
    card: { brand: 'visa', last4: '0060', cardId: null },
    customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
    metadata: null,
    preauthTtlMs: 7 * DAY_MS,
    createdAtMs: CREATED_MS,
    ...changes
  }
}

/** One text as each of those that a merchant sets. */
export function everyText(text: string): Partial<MerchantTexts> {
  return Object.fromEntries(Object.keys(noTexts).map(name => [name, text]))
}

/** A payment as it is accepted, with any of its figures changed. */
export function aPayment(
  changes: { terms?: Partial<PaymentTerms>; progress?: Partial<PaymentProgress>; idempotencyKey?: string } = {}
): Payment {
  const payment = newPayment(someTerms(changes.terms), changes.idempotencyKey ?? CREATE_KEY)
  return { ...payment, progress: { ...payment.progress, ...changes.progress } }
}

/** A doubt about an operation that was sent once, at `sinceMs`, without an answer. */
export function aDoubt(sinceMs: number, changes: Partial<Reconciliation> = {}): Reconciliation {
  return {
    openedMs: sinceMs,
    tries: 1,
    sinceMs,
    unansweredMs: sinceMs,
    refusedMs: null,
    concluded: null,
    attempts: 0,
    nextAtMs: sinceMs,
    ...changes
  }
}

/** The refunds of a payment of which others gave back so much. */
export function refundedElsewhere(amountCents: number): readonly Refund[] {
  const state = 'succeeded'
  return [{ amountCents, state, idempotencyKey: null, requestedAtMs: null, concludedAtMs: CREATED_MS, error: null }]
}

export function aSale(changes: Partial<Sale> = {}): Sale {
  return {
    currency: 'BRL',
    references: { ...references, saleId: references.saleId ?? '' },
    status: 'captured',
    amountCents: 1_000,
    capturedCents: 1_000,
    voidedCents: 0,
    declinedCode: null,
    isChargedBack: false,
    ...changes
  }
}

export const createCommand: Command & { kind: 'create' } = {
  kind: 'create',
  buyer,
  source: { type: 'token', tokenId: 'tok_00000000000000000000000000' },
  authoriseByMs: CREATED_MS + 900_000
}

const CREATE_KEY = 'key-of-the-create'

/** The idempotency record of a key of the tests' merchant. */
export function recordIdOf(idempotencyKey: string): string {
  return idempotencyRecordIdOf(MERCHANT, idempotencyKey)
}

export function anEntry(payment: Payment, changes: Partial<CommandEntry> = {}): CommandEntry {
  const { idempotencyKey = payment.progress.operation.idempotencyKey } = changes
  return {
    entryId: '1-1',
    partition: PARTITION,
    fields: [],
    consumer: 'worker',
    delivery: 'worker 1',
    paymentKey: paymentKeyOf(payment.terms.id),
    command: createCommand,
    idempotencyKey,
    idempotencyRecordId: idempotencyKey === null ? null : recordIdOf(idempotencyKey),
    replyTo: null,
    correlationId: null,
    traceparent: null,
    deliveryCount: 0,
    newRecord: null,
    dueAtMs: null,
    ...changes
  }
}

/** The fields of a `wake` as timers write it. */
export function aWake(
  paymentKey: string,
  { dueAtMs = null, deliveryCount = 0 }: Partial<Pick<CommandEntry, 'dueAtMs' | 'deliveryCount'>> = {}
): string[] {
  const unrequested = {
    idempotencyKey: null,
    idempotencyRecordId: null,
    replyTo: null,
    correlationId: null,
    traceparent: null
  }
  return encodeEntry({ paymentKey, command: { kind: 'wake' }, dueAtMs, deliveryCount, ...unrequested })
}

export function anAcceptance(changes: Partial<Acceptance> = {}): Acceptance {
  const { idempotencyKey = CREATE_KEY } = changes
  return {
    partition: PARTITION,
    idempotencyKey,
    idempotencyRecordId: recordIdOf(idempotencyKey),
    fingerprint: 'fingerprint',
    replyTo: { channel: 'reply:test', commandId: 'command-1' },
    correlationId: null,
    traceparent: null,
    ...changes
  }
}
