/** A one-use token (docs/API.md#post-v1tokens): what makes it, and its schema. */
import { answerObject, component, text, textOrNull, time } from './answer-fields.js'
import { requestObject } from './request-fields.js'
import type { Properties, Schema } from './schema.js'

/** A typed card. Its rules in the words of a tool; api/tokens/card-input.ts has a sentence for each. */
export const tokenFields = {
  card_number: {
    type: 'string',
    pattern: '^[0-9]{12,19}$',
    description: 'the card number',
    rule: '12 to 19 digits without spaces, with a valid check digit'
  },
  holder_name: {
    type: 'string',
    maxLength: 120,
    format: 'filled',
    description: 'the name on the card',
    rule: '1 to 120 characters, with fewer than 12 digits, because 12 may be a card number'
  },
  expiration_month: {
    type: 'string',
    pattern: '^(0[1-9]|1[0-2])$',
    description: 'month of expiry',
    rule: '`01` to `12`'
  },
  expiration_year: {
    type: 'string',
    pattern: '^[0-9]{4}$',
    description: 'year of expiry',
    rule: 'four digits, not in the past'
  },
  cvv: {
    type: 'string',
    pattern: '^[0-9]{3,4}$',
    description: 'the security code; never written to a disk',
    rule: '3 or 4 digits'
  }
} as const satisfies Properties

export type TokenField = keyof typeof tokenFields

const cardFields = Object.keys(tokenFields).filter(name => name !== 'cvv')

/**
 * What a tool can check of the body of POST /v1/tokens; the rules are functions (api/tokens/card-input.ts). A CVV comes
 * alone, or with all fields of a card.
 */
export const tokenBody: Schema = {
  ...requestObject(tokenFields, ['cvv'], 'must be a JSON object'),
  dependentRequired: Object.fromEntries(cardFields.map(name => [name, cardFields.filter(other => other !== name)]))
}

export const tokenSchema = component(
  'Token',
  answerObject({
    token_id: text('the one-use token: for one payment, or for one stored card; of a `cvv` alone a `cvv_token_id`'),
    brand: textOrNull('brand of the card; null: a token of a `cvv` alone'),
    last4: textOrNull('last four digits; null: as above'),
    expires_at: time('until when it can be used')
  })
)
