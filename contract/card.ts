/** A stored card as merchants see it (docs/API.md#post-v1cards): what stores it, its schema, and how it is made. */
import { isExpired } from '../machines/card-brands.js'
import { answerObject, component, oneOfKnown, type Shown, text } from './answer-fields.js'
import { about, givenId, requestObject } from './request-fields.js'

/** Body of POST /v1/cards. */
export const storeCardBody = requestObject(
  {
    token_id: about(
      'from the hosted fields, or from POST /v1/tokens; it is used up',
      givenId('the one-use token from the browser')
    )
  },
  ['token_id'],
  'must be a JSON object'
)

export const cardSchema = component(
  'Card',
  answerObject({
    card_id: text('id of the stored card; works with the keys of your merchant only'),
    status: oneOfKnown('`active`, or `expired`: a create with it is refused, 422 `card_expired`', [
      'active',
      'expired'
    ]),
    brand: text('brand of the card'),
    last4: text('last four digits'),
    expiration_month: text('`01` to `12`'),
    expiration_year: text('four digits'),
    holder_name: text('the name on the card')
  })
)

/** A stored card without its number. */
export interface ShownCard {
  readonly cardId: string
  readonly brand: string
  readonly last4: string
  /** "01".."12" */
  readonly expirationMonth: string
  /** "YYYY" */
  readonly expirationYear: string
  readonly holderName: string
}

export function presentCard(shown: ShownCard, nowMs: number): Shown<typeof cardSchema> {
  return {
    card_id: shown.cardId,
    status: isExpired(shown.expirationYear, shown.expirationMonth, nowMs) ? 'expired' : 'active',
    brand: shown.brand,
    last4: shown.last4,
    expiration_month: shown.expirationMonth,
    expiration_year: shown.expirationYear,
    holder_name: shown.holderName
  }
}
