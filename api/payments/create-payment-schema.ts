/** Body of POST /v1/payments (docs/API.md#post-v1payments). */

import {
  about,
  amountCents,
  CURRENCY,
  digits,
  externalReference,
  filled,
  givenId,
  INSTALLMENTS_MAX,
  object,
  orNull,
  text
} from '../../contract/request-fields.js'
import type { CardSource } from '../../machines/commands.js'
import type { MetadataValue } from '../../machines/model.js'
import { parserOf, type Schema } from '../http/schema.js'
import { invalidRequest } from '../http/service-error.js'
import type { CreateRequest } from './payments-port.js'

/** The 26 states of Brazil and its federal district. */
const BRAZILIAN_STATES = [
  ...['AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA'],
  ...['PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO']
] as const

const sourceType = {
  description: 'a card that was just typed, or one that you have stored',
  rule: 'must be "token" (with token_id) or "card" (with card_id)'
}
const typedToken = about(
  'from the hosted fields, or from POST /v1/tokens; it pays once',
  givenId('the one-use token from the browser')
)
const storedCard = {
  card_id: about('from POST /v1/cards', givenId('the card_id of a stored card')),
  cvv: about(
    'the code that the buyer typed again; it is never stored',
    orNull(digits('3,4', 'the security code of 3 or 4 digits'))
  ),
  cvv_token_id: about(
    'in place of `cvv`: a token of the code that the buyer typed again, from the field for it (HOSTED_FIELDS.md); it serves one payment',
    orNull(givenId('the one-use token of a security code'))
  )
}

const paymentSource: Schema = {
  type: 'object',
  description: 'where the card comes from',
  required: ['source_type'],
  properties: { source_type: sourceType },
  rule: 'must be an object that says where the card comes from',
  discriminator: { propertyName: 'source_type' },
  oneOf: [
    object({ source_type: { const: 'token', ...sourceType }, token_id: typedToken }, ['token_id'], 'must be a token'),
    object({ source_type: { const: 'card', ...sourceType }, ...storedCard }, ['card_id'], 'must be a stored card')
  ]
}

const address = object(
  {
    zip_code: about('postal code', digits('8', 'a postal code of 8 digits')),
    street: about('street', filled(120)),
    number: about('number of the house', filled(10)),
    complement: about('flat, floor, block', orNull(text(60))),
    district: about('district', filled(60)),
    city: about('city', filled(60)),
    state: {
      enum: BRAZILIAN_STATES,
      description: 'state',
      rule: 'must be the two-letter abbreviation of a Brazilian state, such as SP'
    }
  },
  ['zip_code', 'street', 'number', 'district', 'city', 'state'],
  "must be an object with the buyer's address"
)

const DOCUMENT =
  'tax number. The rule is that of installations without `cnpj_with_letters` (GET /v1/capabilities); with it, the first 12 characters of a CNPJ may be capital letters too'

/** Without CNPJ_WITH_LETTERS, the default of the contract. */
const documentOfDigits: Schema = {
  type: 'string',
  format: 'cpf-or-cnpj',
  pattern: '^[0-9]+$',
  rule: 'must be a CPF (11 digits) or CNPJ (14 digits) with valid check digits, digits only'
}

/** With CNPJ_WITH_LETTERS. */
const documentWithLetters: Schema = {
  type: 'string',
  format: 'cpf-or-cnpj',
  rule: 'must be a CPF (11 digits) or CNPJ (12 digits or capital letters, then 2 digits) with valid check digits, without separators'
}

function customerWith(document: Schema): Schema {
  return object(
    {
      name: about('name', filled(120)),
      email: {
        description: 'e-mail address',
        type: 'string',
        maxLength: 120,
        format: 'email',
        noCard: 'inside',
        rule: 'must be a valid e-mail address of at most 120 characters without a card number'
      },
      document: about(DOCUMENT, document),
      phone: about(
        'telephone number',
        digits('10,11', 'area code and number, 10 to 11 digits without the +55 of Brazil')
      ),
      address: about('billing address', address)
    },
    ['name', 'email', 'document', 'phone', 'address'],
    'must be an object with the buyer'
  )
}

const metadata: Schema = orNull({
  description: 'your own data, returned when you read the payment',
  type: 'object',
  maxProperties: 20,
  propertyNames: {
    maxLength: 40,
    format: 'metadata-key',
    noCard: 'key',
    rule: 'must have a key of 1 to 40 characters, not blank, without control characters or a card number, other than __proto__ and names of card data such as cvv, pan and card_number'
  },
  additionalProperties: {
    description: 'one pair; never card data',
    type: ['string', 'number', 'boolean', 'null'],
    maxLength: 500,
    format: 'note',
    noCard: 'inside',
    // A double cannot represent all larger integers.
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    rule: `must be a string of at most 500 characters without a card number and control characters other than tabs and line breaks, a number between ${-Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} that is no card number, true, false or null`
  },
  rule: 'must be an object with at most 20 pairs'
})

const INSTALLMENTS_DEFAULT = 1
const CAPTURE_DEFAULT = true

function bodyWith(document: Schema): Schema {
  return object(
    {
      amount_cents: about('what the buyer pays', amountCents),
      currency: about(
        'the currency of the amount',
        orNull({ const: CURRENCY, default: CURRENCY, rule: `must be "${CURRENCY}"` })
      ),
      installments: orNull({
        description: 'in how many parts the buyer pays',
        type: 'integer',
        minimum: 1,
        maximum: INSTALLMENTS_MAX,
        default: INSTALLMENTS_DEFAULT,
        rule: `must be a whole number from 1 to ${INSTALLMENTS_MAX}`
      }),
      capture: orNull({
        description: 'true: authorise and capture; false: authorise only, and capture later',
        type: 'boolean',
        default: CAPTURE_DEFAULT,
        rule: 'must be true or false'
      }),
      statement_descriptor: about("text on the buyer's statement", orNull(text(22))),
      external_reference: about(
        'your order id; it need not be unique, and is compared character by character: é in one (NFC) and in two (NFD) are two ids. Put a letter before ids of 13 to 19 digits: some of them look like card numbers',
        externalReference
      ),
      payment_source: paymentSource,
      customer: about('the buyer', customerWith(document)),
      metadata
    },
    ['amount_cents', 'external_reference', 'payment_source', 'customer'],
    'must be a JSON object'
  )
}

export const createPaymentBody = bodyWith(documentOfDigits)
const bodyWithLetters = bodyWith(documentWithLetters)

/** A body that the schema accepts. */
interface Body {
  amount_cents: number
  installments?: number | null
  capture?: boolean | null
  statement_descriptor?: string | null
  external_reference: string
  payment_source:
    | { source_type: 'token'; token_id: string }
    | { source_type: 'card'; card_id: string; cvv?: string | null; cvv_token_id?: string | null }
  customer: {
    name: string
    email: string
    document: string
    phone: string
    address: {
      zip_code: string
      street: string
      number: string
      complement?: string | null
      district: string
      city: string
      state: string
    }
  }
  metadata?: Record<string, MetadataValue> | null
}

/** Makes the parser of an installation. It throws `ServiceError` `invalid_request` with every broken rule. */
export function createPaymentParser(takesCnpjWithLetters: boolean): (value: unknown) => CreateRequest {
  const parse = parserOf<Body>(takesCnpjWithLetters ? bodyWithLetters : createPaymentBody, 'body')
  return value => requestOf(parse(value))
}

function requestOf(given: Body): CreateRequest {
  const { name, email } = given.customer
  const metadata = Object.keys(given.metadata ?? {}).length > 0 ? (given.metadata ?? null) : null
  return {
    terms: {
      externalReference: given.external_reference,
      captureMode: (given.capture ?? CAPTURE_DEFAULT) ? 'auto' : 'manual',
      amountCents: given.amount_cents,
      currency: CURRENCY,
      installments: given.installments ?? INSTALLMENTS_DEFAULT,
      statementDescriptor: given.statement_descriptor ?? null,
      customer: { name, email },
      metadata
    },
    buyer: buyerOf(given.customer),
    ...sourceOf(given.payment_source)
  }
}

function buyerOf(customer: Body['customer']): CreateRequest['buyer'] {
  const { name, email, document, phone, address } = customer
  const { street, number, district, city, state, zip_code: zipCode, complement = null } = address
  return { name, email, document, phone, address: { zipCode, street, number, complement, district, city, state } }
}

function sourceOf(source: Body['payment_source']): { source: CardSource; cvv: string | null } {
  if (source.source_type === 'token') return { source: { type: 'token', tokenId: source.token_id }, cvv: null }
  const { card_id: cardId, cvv = null, cvv_token_id: cvvTokenId = null } = source
  if (cvvTokenId === null) return { source: { type: 'card', cardId, hasCvv: cvv !== null }, cvv }
  if (cvv !== null) throw invalidRequest('payment_source.cvv', 'must be left out when there is a cvv_token_id')
  return { source: { type: 'card', cardId, hasCvv: true, cvvTokenId }, cvv: null }
}
