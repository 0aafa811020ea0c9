/** Body of POST /v1/payments (docs/API.md#post-v1payments). */
import { CURRENCY, type MetadataValue } from '../machines/model.js'
import { requestTexts } from './merchant-texts.js'
import {
  about,
  amountCents,
  digits,
  externalReference,
  filled,
  givenId,
  INSTALLMENTS_MAX,
  orNull,
  requestObject,
  taggedUnion,
  textUpTo,
  trueOrFalse
} from './request-fields.js'
import type { Schema, Static } from './schema.js'

/** The 26 states of Brazil and its federal district. */
const BRAZILIAN_STATES = [
  ...['AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA'],
  ...['PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO']
] as const

const sourceType = {
  description: 'a card that was just typed, or one that you have stored',
  rule: 'must be "token" (with token_id) or "card" (with card_id)'
}

function sourceIs<Kind extends string>(kind: Kind): Schema<Kind> {
  return { const: kind, ...sourceType }
}

const typedToken = requestObject(
  {
    source_type: sourceIs('token'),
    token_id: about(
      'from the hosted fields, or from POST /v1/tokens; it pays once',
      givenId('the one-use token from the browser')
    )
  },
  ['token_id'],
  'must be a token'
)

const storedCard = requestObject(
  {
    source_type: sourceIs('card'),
    card_id: about('from POST /v1/cards', givenId('the card_id of a stored card')),
    cvv: about(
      'the code that the buyer typed again; it is never stored',
      orNull(digits('3,4', 'the security code of 3 or 4 digits'))
    ),
    cvv_token_id: about(
      'in place of `cvv`: a token of the code that the buyer typed again, from the field for it (HOSTED_FIELDS.md); it serves one payment',
      orNull(givenId('the one-use token of a security code'))
    )
  },
  ['card_id'],
  'must be a stored card'
)

const paymentSource = taggedUnion<Static<typeof typedToken> | Static<typeof storedCard>, 'source_type'>(
  'source_type',
  {
    description: 'where the card comes from',
    rule: 'must be an object that says where the card comes from',
    tagField: sourceType
  },
  [typedToken, storedCard]
)

const state: Schema<string> = {
  enum: BRAZILIAN_STATES,
  description: 'state',
  rule: 'must be the two-letter abbreviation of a Brazilian state, such as SP'
}

const address = requestObject(
  {
    zip_code: about('postal code', digits('8', 'a postal code of 8 digits')),
    street: about('street', filled(120)),
    number: about('number of the house', filled(10)),
    complement: about('flat, floor, block', orNull(textUpTo(60))),
    district: about('district', filled(60)),
    city: about('city', filled(60)),
    state
  },
  ['zip_code', 'street', 'number', 'district', 'city', 'state'],
  "must be an object with the buyer's address"
)

const DOCUMENT =
  'tax number. The rule is that of installations without `cnpj_with_letters` (GET /v1/capabilities); with it, the first 12 characters of a CNPJ may be capital letters too'

/** Without CNPJ_WITH_LETTERS, the default of the contract. */
const documentOfDigits: Schema<string> = {
  type: 'string',
  format: 'cpf-or-cnpj',
  pattern: '^[0-9]+$',
  rule: 'must be a CPF (11 digits) or CNPJ (14 digits) with valid check digits, digits only'
}

/** With CNPJ_WITH_LETTERS. */
const documentWithLetters: Schema<string> = {
  type: 'string',
  format: 'cpf-or-cnpj',
  rule: 'must be a CPF (11 digits) or CNPJ (12 digits or capital letters, then 2 digits) with valid check digits, without separators'
}

const email: Schema<string> = {
  description: 'e-mail address',
  type: 'string',
  maxLength: 120,
  format: 'email',
  noCard: 'inside',
  rule: 'must be a valid e-mail address of at most 120 characters without a card number'
}

const phone = digits('10,11', 'area code and number, 10 to 11 digits without the +55 of Brazil')

const metadata: Schema<Readonly<Record<string, MetadataValue>>> = {
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
}

const currency: Schema<typeof CURRENCY> = { const: CURRENCY, default: CURRENCY, rule: `must be "${CURRENCY}"` }

export const INSTALLMENTS_DEFAULT = 1
export const CAPTURE_DEFAULT = true

const installments: Schema<number> = {
  description: 'in how many parts the buyer pays',
  type: 'integer',
  minimum: 1,
  maximum: INSTALLMENTS_MAX,
  default: INSTALLMENTS_DEFAULT,
  rule: `must be a whole number from 1 to ${INSTALLMENTS_MAX}`
}

function bodyWith(document: Schema<string>) {
  const customer = requestObject(
    {
      name: about('name', filled(120)),
      email,
      document: about(DOCUMENT, document),
      phone: about('telephone number', phone),
      address: about('billing address', address)
    },
    ['name', 'email', 'document', 'phone', 'address'],
    'must be an object with the buyer'
  )
  return requestObject(
    {
      amount_cents: about('what the buyer pays', amountCents),
      currency: about('the currency of the amount', orNull(currency)),
      installments: orNull(installments),
      capture: orNull(
        trueOrFalse('true: authorise and capture; false: authorise only, and capture later', CAPTURE_DEFAULT)
      ),
      ...requestTexts,
      external_reference: about(
        'your order id; it need not be unique, and is compared character by character: é in one (NFC) and in two (NFD) are two ids. Put a letter before ids of 13 to 19 digits: some of them look like card numbers',
        externalReference
      ),
      payment_source: paymentSource,
      customer: about('the buyer', customer),
      metadata: orNull(metadata)
    },
    ['amount_cents', 'external_reference', 'payment_source', 'customer'],
    'must be a JSON object'
  )
}

export const createPaymentBody = bodyWith(documentOfDigits)
export const createPaymentBodyWithLetters = bodyWith(documentWithLetters)

export type CreatePaymentBody = Static<typeof createPaymentBody>
