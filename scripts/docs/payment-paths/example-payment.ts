/** The payment and the rules that the examples are about (payment-examples.ts). */
import { noTexts } from '../../../machines/merchant-text-rules.js'
import { newPayment, type Payment } from '../../../machines/model.js'
import type { Policy } from '../../../machines/payment/policy.js'

export const examplePolicy: Policy = {
  environment: 'test',
  reconcileDelaysMs: [2_000, 5_000, 15_000, 60_000],
  notFoundHorizonMs: 600_000,
  reconcileListAfterMs: 72 * 3_600_000,
  unvouchedBeforeMs: 0
}

const CREATED_AT_MS = Date.UTC(2026, 0, 5, 12)
/** A payment of BRL 100.00 that was accepted a moment ago. */
export function examplePayment(captureMode: 'auto' | 'manual'): Payment {
  return newPayment(
    {
      id: '019b8e2c-5c00-7000-8000-000000000001',
      merchantId: 'm_example',
      externalReference: 'order-1',
      captureMode,
      amountCents: 10_000,
      currency: 'BRL',
      installments: 1,
      ...noTexts,
      card: { brand: 'visa', last4: '0060', cardId: null },
      customer: { name: 'Ana Example', email: 'ana@example.com' },
      metadata: null,
      preauthTtlMs: 7 * 24 * 3_600_000,
      createdAtMs: CREATED_AT_MS
    },
    'example-record'
  )
}
