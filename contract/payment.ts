/**
 * A payment as merchants see it (docs/API.md#the-payment): its schema, and how it is made. `operation` and `error` are
 * absent when there is none; every other field is present, null while it has no value.
 *
 * A link in a description leads to another page of docs/; the OpenAPI documents keep its text only.
 */
import { declineSentence } from '../machines/decline-messages.js'
import { type Decline, declineOf, declineReasons, isDecline } from '../machines/declines.js'
import {
  CURRENCY,
  type Environment,
  type FailureCode,
  type MetadataValue,
  type Payment,
  type PaymentProgress,
  type PaymentTerms,
  paymentStatuses,
  shownFailureOf
} from '../machines/model.js'
import { authorizedCentsOf } from '../machines/payment/amounts.js'
import { rejectionCodeOf } from '../machines/status-change.js'
import {
  answerObject,
  cents,
  component,
  count,
  flagOrNull,
  listOf,
  oneOfKnown,
  oneOfKnownOrNull,
  type Shown,
  text,
  textOrNull,
  time,
  timeOrNull,
  uuid,
  VALUE_TYPES
} from './answer-fields.js'
import { answerTexts, presentTexts } from './merchant-texts.js'
import {
  operationSchema,
  paymentFailureSchema,
  presentFailure,
  presentOperation,
  presentRefund,
  refundSchema,
  timestamp,
  timestampOrNull
} from './payment-parts.js'
import type { Schema } from './schema.js'

export const paymentCardSchema = component(
  'PaymentCard',
  answerObject({
    brand: text('brand of the card, such as `visa`'),
    last4: text('last four digits'),
    card_id: textOrNull('the stored card, when it was paid with one')
  })
)

export const paymentCustomerSchema = component(
  'PaymentCustomer',
  answerObject({
    name: text('as sent; `erased` after the buyer was erased, and `metadata` is `{}` then'),
    email: text('as sent, or `erased@erased.invalid`; document, telephone and address are never answered')
  })
)

export const paymentProviderSchema = component(
  'PaymentProvider',
  answerObject({
    authorization_code: textOrNull('of the issuer'),
    nsu: textOrNull('of the card network'),
    tid: textOrNull('of the card network'),
    declined_code: textOrNull('why the issuer declined: the code of the network'),
    decline_reason: oneOfKnownOrNull(
      'why the issuer declined, in words that are the same for all brands: [docs/DECLINES.md](DECLINES.md); null unless it declined with a code',
      declineReasons
    ),
    may_retry: flagOrNull('whether the brand allows this card to be tried again, in a new payment; null as above'),
    rejection_code: textOrNull(
      'with which code the network rejected the sale as such (`provider_rejected`): [DECLINES.md](DECLINES.md#rejected-sales)'
    )
  })
)

/** Without types of its values: generators make unreadable ones of several types at once. */
const metadata: Schema<Readonly<Record<string, MetadataValue>>> = {
  type: 'object',
  additionalProperties: true,
  [VALUE_TYPES]: ['string', 'number', 'boolean', 'null'],
  description: 'as sent; `{}` when there was none'
}

export const paymentSchema = component(
  'Payment',
  answerObject(
    {
      id: uuid('id of the payment'),
      external_reference: text('your order id, as sent'),
      status: oneOfKnown(
        '[docs/PAYMENTS.md](PAYMENTS.md#what-each-status-means) says what each status means',
        paymentStatuses
      ),
      capture_mode: oneOfKnown('`auto` (created with `capture` true) or `manual`', ['auto', 'manual']),
      amount_cents: cents('authorised amount, or the amount to authorise'),
      captured_cents: cents('captured so far'),
      refunded_cents: cents('refunded so far by your requests'),
      currency: oneOfKnown('as sent', [CURRENCY]),
      installments: count('as sent'),
      ...answerTexts,
      card: paymentCardSchema.reference,
      customer: paymentCustomerSchema.reference,
      provider: paymentProviderSchema.reference,
      metadata,
      expires_at: timeOrNull('end of the window to capture a pre-authorisation'),
      created_at: time('when the request was accepted'),
      authorized_at: timeOrNull('when the issuer approved'),
      captured_at: timeOrNull('when it was captured'),
      canceled_at: timeOrNull('when the pre-authorisation was cancelled'),
      refunded_at: timeOrNull('when it was last refunded'),
      refunds: listOf(refundSchema.reference),
      operation: operationSchema.reference,
      error: paymentFailureSchema.reference
    },
    ['error']
  )
)

export const paymentPageSchema = component(
  'PaymentPage',
  answerObject({
    items: listOf(paymentSchema.reference),
    next_cursor: textOrNull('Where the next page begins; null: this is the last one')
  })
)

/** A payment that was read. */
export function presentStored(stored: Payment, environment: Environment): Shown<typeof paymentSchema> {
  return presentPayment(stored.terms, stored.progress, environment, rejectionCodeOf(stored))
}

/** @param rejectionCode of a sale that the network rejected; without one, such as in the result of an operation, there is none */
export function presentPayment(
  terms: PaymentTerms,
  progress: PaymentProgress,
  environment: Environment,
  rejectionCode: string | null = null
): Shown<typeof paymentSchema> {
  const { references, declinedCode } = progress
  const decline = declinedCode === null ? null : declineOf(terms.card.brand, declinedCode, environment)
  return {
    id: terms.id,
    external_reference: terms.externalReference,
    status: progress.status,
    capture_mode: terms.captureMode,
    amount_cents: authorizedCentsOf(terms, progress),
    captured_cents: progress.capturedCents,
    refunded_cents: progress.refundedCents,
    currency: terms.currency,
    installments: terms.installments,
    ...presentTexts(terms),
    card: { brand: terms.card.brand, last4: terms.card.last4, card_id: terms.card.cardId },
    customer: { name: terms.customer.name, email: terms.customer.email },
    provider: {
      authorization_code: references.authorizationCode,
      nsu: references.nsu,
      tid: references.tid,
      declined_code: declinedCode,
      decline_reason: decline?.reason ?? null,
      may_retry: decline?.mayRetry ?? null,
      rejection_code: rejectionCode
    },
    metadata: terms.metadata ?? {},
    expires_at: timestampOrNull(progress.expiresAtMs),
    created_at: timestamp(terms.createdAtMs),
    authorized_at: timestampOrNull(progress.authorizedAtMs),
    captured_at: timestampOrNull(progress.capturedAtMs),
    canceled_at: timestampOrNull(progress.canceledAtMs),
    refunded_at: timestampOrNull(progress.refundedAtMs),
    refunds: progress.refunds.map(presentRefund),
    operation: presentOperation(progress.operation),
    ...(progress.error !== null && { error: presentError(progress.error, terms, decline) })
  }
}

/** A decline says its reason, as in the answer to the create. */
function presentError(
  code: FailureCode,
  terms: PaymentTerms,
  decline: Decline | null
): Shown<typeof paymentFailureSchema> {
  const error = presentFailure(shownFailureOf(code, terms))
  return decline !== null && isDecline(code) ? { ...error, message: declineSentence(decline) } : error
}
