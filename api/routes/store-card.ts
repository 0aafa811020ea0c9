/** POST /v1/cards (interface 4.6): 201, or 200 when the same token was exchanged before (design 9). */
import { principalOf } from '../context.js'
import { jsonBody } from '../middleware/json-body.js'
import { presentCard } from '../presenters/card.js'
import { guards, type Route, type RouteDeps } from '../route.js'
import { parseStoreCard } from '../schemas/store-card.js'

export function storeCardRoute(deps: RouteDeps): Route {
  return {
    method: 'POST',
    path: '/v1/cards',
    handlers: [
      ...guards(deps, 'cards:write'),
      jsonBody({ isOptional: false }),
      async ctx => {
        const { token_id: tokenId } = parseStoreCard(ctx.state.body)
        const { card, isNew } = await deps.cards.store(principalOf(ctx).merchantId, tokenId)
        ctx.status = isNew ? 201 : 200
        ctx.body = presentCard(card)
      }
    ]
  }
}
