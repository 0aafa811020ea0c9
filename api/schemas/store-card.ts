/** Body of POST /v1/cards (docs/API.md#post-v1cards). */
import { givenId, object } from './fields.js'
import { parserOf } from './rules.js'

export const storeCardBody = object(
  { token_id: givenId('the one-use token from the browser') },
  ['token_id'],
  'must be a JSON object'
)

export const parseStoreCard = parserOf<{ token_id: string }>(storeCardBody, 'body')
