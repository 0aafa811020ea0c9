/** Payments whose records were stored by this format (test/redis/payments/stored-records.test.ts). Never change one: add another. */
import { noTexts } from '../../../machines/merchant-text-rules.js'
import type { Payment } from '../../../machines/model.js'

export const STORED_ID = '0197f3a2-1b2c-7def-8abc-01234567a003'
const DAY_MS = 24 * 3_600_000

const pending: Payment = {
  version: 1,
  terms: {
    id: STORED_ID,
    merchantId: 'm_0000000001',
    externalReference: 'order-1',
    captureMode: 'auto',
    amountCents: 1_990,
    currency: 'BRL',
    installments: 1,
    ...noTexts,
    card: { brand: 'visa', last4: '0060', cardId: null },
    customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
    metadata: null,
    preauthTtlMs: 7 * DAY_MS,
    createdAtMs: 1_767_355_200_000
  },
  progress: {
    status: 'pending',
    phase: null,
    capturedCents: 0,
    refundedCents: 0,
    references: { saleId: null, tid: null, nsu: null, authorizationCode: null },
    declinedCode: null,
    expiresAtMs: null,
    authorizedAtMs: null,
    capturedAtMs: null,
    canceledAtMs: null,
    refundedAtMs: null,
    operation: {
      kind: 'authorization',
      state: 'in_progress',
      amountCents: 1_990,
      idempotencyKey: 'AAAAAAAAAAAAAAAAAAAAAA'
    },
    refunds: [],
    error: null,
    reconciliation: null,
    verification: null,
    reviewReason: null,
    authorizedCents: null,
    voids: []
  },
  history: []
}

const refunding: Payment = {
  version: 7,
  terms: {
    ...pending.terms,
    captureMode: 'manual',
    installments: 12,
    statementDescriptor: 'LOJA *1',
    card: { brand: 'elo', last4: '4321', cardId: 'card_1' },
    metadata: { table: 4, vip: true, note: null, name: 'ü' },
    preauthTtlMs: 5 * DAY_MS
  },
  progress: {
    status: 'refunding',
    phase: 'reconciling',
    capturedCents: 900,
    refundedCents: 100,
    references: { saleId: '11111111-2222-4333-8444-555555555555', tid: '0101', nsu: null, authorizationCode: '654321' },
    declinedCode: '05',
    expiresAtMs: 1_767_355_200_001,
    authorizedAtMs: 1_767_355_200_002,
    capturedAtMs: 1_767_355_200_003,
    canceledAtMs: 1_767_355_200_004,
    refundedAtMs: 1_767_355_200_005,
    operation: { kind: 'refund', state: 'unknown', amountCents: 50, idempotencyKey: 'r' },
    refunds: [],
    error: 'provider_rejected',
    reconciliation: {
      sinceMs: 1,
      attempts: 2,
      nextAtMs: 3,
      openedMs: 0,
      tries: 0,
      unansweredMs: null,
      refusedMs: null,
      concluded: null
    },
    verification: { sinceMs: 4, attempts: 5, nextAtMs: 6, reported: 'change' },
    reviewReason: 'figures_differ',
    authorizedCents: null,
    voids: []
  },
  history: [
    { atMs: 1, event: 'APPROVED', status: 'pre_authorized', phase: null, detail: null, times: 1 },
    { atMs: 2, event: 'NO_ANSWER', status: 'refunding', phase: 'reconciling', detail: 'timeout', times: 9 }
  ]
}

const refundFailed: Payment = {
  version: 8,
  terms: pending.terms,
  progress: {
    ...pending.progress,
    status: 'partially_refunded',
    capturedCents: 900,
    refundedCents: 50,
    operation: { kind: 'refund', state: 'failed', amountCents: 50, idempotencyKey: 'r 1' },
    refunds: [
      { amountCents: 50, state: 'succeeded', idempotencyKey: 'q 1', requestedAtMs: 1, concludedAtMs: 2, error: null },
      {
        amountCents: 50,
        state: 'failed',
        idempotencyKey: 'r 1',
        requestedAtMs: 3,
        concludedAtMs: 4,
        error: 'provider_rejected'
      },
      { amountCents: 70, state: 'succeeded', idempotencyKey: null, requestedAtMs: null, concludedAtMs: 5, error: null }
    ],
    error: 'provider_rejected'
  },
  history: []
}

export const samples = { pending, refunding, refundFailed } as const
