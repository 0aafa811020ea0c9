// What a merchant writes on types that openapi-typescript made with its default options. A test compiles it, strictly.
import type { components, operations } from './types.js'

type Schemas = components['schemas']
type ErrorOf<Name extends keyof components['responses']> =
  components['responses'][Name]['content']['application/json']['error']['code']

// Fields with a default may be left out.
export const order: Schemas['CreatePaymentRequest'] = {
  amount_cents: 1_990,
  external_reference: 'order-1',
  payment_source: { source_type: 'token', token_id: 'from-the-hosted-fields' },
  customer: {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    document: '52998224725',
    phone: '11987654321',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '1000',
      district: 'Bela Vista',
      city: 'Sao Paulo',
      state: 'SP'
    }
  },
  metadata: { basket: 42, gift: true, note: 'ring twice', voucher: null }
}
export const firstPage: NonNullable<operations['listPayments']['parameters']['query']> = {}

// @ts-expect-error A metadata value is text, a number, true, false or null.
export const basket: NonNullable<Schemas['CreatePaymentRequest']['metadata']> = { basket: {} }

// The codes of an answer are a closed list: a switch over them is complete.
export function adviceOn(code: ErrorOf<'CreatePaymentUnprocessable'>): string {
  switch (code) {
    case 'invalid_token':
    case 'invalid_card':
      return 'let the buyer type the card again'
    case 'card_declined':
    case 'card_expired':
      return 'ask for another card'
    case 'provider_rejected':
      return 'read the payment'
  }
}

export function isPaid({ status, captured_cents: captured, amount_cents: amount }: Schemas['Payment']): boolean {
  return status === 'captured' && captured === amount
}

// @ts-expect-error No payment has this status.
export const wrong: Schemas['Payment']['status'] = 'paid'
