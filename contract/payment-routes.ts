/** The routes of payments. */
import { shownFailures } from '../machines/model.js'
import { createPaymentBody } from './create-payment.js'
import { listPaymentsQuery } from './list-payments.js'
import { operatePaymentBodies } from './operate-payment.js'
import { paymentPageSchema, paymentSchema } from './payment.js'
import type { RouteFacts } from './route.js'

const OF_OPERATIONS = [
  'not_found',
  'invalid_state',
  'operation_in_progress',
  'provider_rejected',
  'network_unavailable'
] as const

const replayed = {
  status: 200,
  schema: paymentSchema,
  means: 'The answer to an earlier request with the same Idempotency-Key and body.'
} as const
const inProgress = {
  status: 202,
  schema: paymentSchema,
  means:
    'Accepted and not finished yet, or `unknown` because the card network gave no clear answer. Read the payment, or wait for the webhook; never send the same intention with another Idempotency-Key.'
} as const

export const paymentRoutes = {
  createPayment: {
    method: 'POST',
    path: '/v1/payments',
    permission: 'payments:write',
    body: { schema: createPaymentBody, isOptional: false },
    tag: 'Payments',
    summary: 'Charge a card, or hold an amount on it',
    text: 'With `capture` true (the default) the card is charged at once, with false the amount is held until it is captured, cancelled or `expires_at` comes.',
    exampleKey: 'order-1-payment',
    answers: [
      replayed,
      { status: 201, schema: paymentSchema, means: 'Paid (`captured`), or held (`pre_authorized`).' },
      inProgress
    ],
    errors: ['idempotency_in_progress', ...shownFailures.filter(code => code !== 'refund_reversed')]
  },
  capturePayment: {
    method: 'POST',
    path: '/v1/payments/{id}/capture',
    permission: 'payments:write',
    body: { schema: operatePaymentBodies.capture, isOptional: true },
    tag: 'Payments',
    summary: 'Capture a pre-authorisation',
    text: 'As a whole or in part, once: what was left out cannot be captured later.',
    exampleKey: 'order-1-capture',
    answers: [{ status: 200, schema: paymentSchema, means: 'Captured; or a repeated request.' }, inProgress],
    errors: [...OF_OPERATIONS, 'preauth_expired', 'amount_exceeds_authorized']
  },
  cancelPayment: {
    method: 'POST',
    path: '/v1/payments/{id}/cancel',
    permission: 'payments:write',
    body: { schema: operatePaymentBodies.cancel, isOptional: true },
    tag: 'Payments',
    summary: 'Undo a pre-authorisation, or refund',
    text: 'A pre-authorisation is undone as a whole; a captured payment is refunded in parts or as a whole.',
    exampleKey: 'order-1-refund',
    answers: [
      { status: 200, schema: paymentSchema, means: 'Cancelled or refunded; or a repeated request.' },
      inProgress
    ],
    errors: [...OF_OPERATIONS, 'partial_void', 'amount_exceeds_refundable', 'too_many_refunds']
  },
  readPayment: {
    method: 'GET',
    path: '/v1/payments/{id}',
    permission: 'payments:read',
    tag: 'Payments',
    summary: 'Read a payment',
    text: 'The source of truth, at any time.',
    answers: [{ status: 200, schema: paymentSchema, means: 'The payment as it stands.' }],
    errors: ['not_found']
  },
  listPayments: {
    method: 'GET',
    path: '/v1/payments',
    permission: 'payments:read',
    query: listPaymentsQuery,
    tag: 'Payments',
    summary: 'List payments, newest first',
    text: 'Send `next_cursor` as `cursor` until it is null; it keeps the filters.',
    answers: [{ status: 200, schema: paymentPageSchema, means: 'One page.' }],
    errors: []
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
