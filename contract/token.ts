/** A one-use token (docs/API.md#post-v1tokens). */
import { component, object, text, textOrNull, time } from './answer-fields.js'

export const token = component(
  'Token',
  object({
    token_id: text('the one-use token: for one payment, or for one stored card; of a `cvv` alone a `cvv_token_id`'),
    brand: textOrNull('brand of the card; null: a token of a `cvv` alone'),
    last4: textOrNull('last four digits; null: as above'),
    expires_at: time('until when it can be used')
  })
)
