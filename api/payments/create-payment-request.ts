/** The body of POST /v1/payments as the payment, the buyer and the card that it asks for. */
import {
  CAPTURE_DEFAULT,
  type CreatePaymentBody,
  createPaymentBody,
  createPaymentBodyWithLetters,
  INSTALLMENTS_DEFAULT
} from '../../contract/create-payment.js'
import { termsOfTexts } from '../../contract/merchant-texts.js'
import type { CardSource } from '../../machines/commands.js'
import { CURRENCY } from '../../machines/model.js'
import { parserOf } from '../http/schema.js'
import { invalidRequest } from '../http/service-error.js'
import type { CreateRequest } from './payments-port.js'

/** Makes the parser of an installation. It throws `ServiceError` `invalid_request` with every broken rule. */
export function createPaymentParser(takesCnpjWithLetters: boolean): (value: unknown) => CreateRequest {
  const parse = parserOf(takesCnpjWithLetters ? createPaymentBodyWithLetters : createPaymentBody, 'body')
  return value => requestOf(parse(value))
}

function requestOf(given: CreatePaymentBody): CreateRequest {
  const { name, email } = given.customer
  const metadata = Object.keys(given.metadata ?? {}).length > 0 ? (given.metadata ?? null) : null
  return {
    terms: {
      externalReference: given.external_reference,
      captureMode: (given.capture ?? CAPTURE_DEFAULT) ? 'auto' : 'manual',
      amountCents: given.amount_cents,
      currency: CURRENCY,
      installments: given.installments ?? INSTALLMENTS_DEFAULT,
      ...termsOfTexts(given),
      customer: { name, email },
      metadata
    },
    buyer: buyerOf(given.customer),
    ...sourceOf(given.payment_source)
  }
}

function buyerOf(customer: CreatePaymentBody['customer']): CreateRequest['buyer'] {
  const { name, email, document, phone, address } = customer
  const { street, number, district, city, state, zip_code: zipCode, complement = null } = address
  return { name, email, document, phone, address: { zipCode, street, number, complement, district, city, state } }
}

function sourceOf(source: CreatePaymentBody['payment_source']): { source: CardSource; cvv: string | null } {
  if (source.source_type === 'token') return { source: { type: 'token', tokenId: source.token_id }, cvv: null }
  const { card_id: cardId, cvv = null, cvv_token_id: cvvTokenId = null } = source
  if (cvvTokenId === null) return { source: { type: 'card', cardId, hasCvv: cvv !== null }, cvv }
  if (cvv !== null) throw invalidRequest('payment_source.cvv', 'must be left out when there is a cvv_token_id')
  return { source: { type: 'card', cardId, hasCvv: true, cvvTokenId }, cvv: null }
}
