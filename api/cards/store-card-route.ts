/** POST /v1/cards (docs/API.md#post-v1cards): 201, or 200 when the same token was exchanged before. */
import { principalOf } from '../http/context.js'
import type { MerchantRoute } from '../http/route.js'
import { parserOf } from '../http/schema.js'
import { about, givenId, object } from '../http/schema-fields.js'
import { presentCard } from './card-presenter.js'

const storeCardBody = object(
  {
    token_id: about(
      'from the hosted fields, or from POST /v1/tokens; it is used up',
      givenId('the one-use token from the browser')
    )
  },
  ['token_id'],
  'must be a JSON object'
)

const parseStoreCard = parserOf<{ token_id: string }>(storeCardBody, 'body')

export const storeCardRoute: MerchantRoute = {
  method: 'POST',
  path: '/v1/cards',
  permission: 'cards:write',
  needsIdempotencyKey: false,
  body: { schema: storeCardBody, isOptional: false },
  query: null,
  answer: deps => async ctx => {
    const { token_id: tokenId } = parseStoreCard(ctx.state.body)
    const { card, isNew } = await deps.cards.store(principalOf(ctx).merchantId, tokenId)
    return { status: isNew ? 201 : 200, body: presentCard(card) }
  }
}
