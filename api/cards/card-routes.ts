/**
 * POST /v1/cards (docs/API.md#post-v1cards): stores a card; 201, or 200 when the same token was exchanged before.
 * GET /v1/cards/{id} (docs/API.md#get-v1cardsid): reads a stored card.
 * DELETE /v1/cards/{id} (docs/API.md#delete-v1cardsid): erases it.
 */
import { presentCard, storeCardBody } from '../../contract/card.js'
import { routes } from '../../contract/routes.js'
import { principalOf, type RequestContext } from '../http/context.js'
import { merchantRoute } from '../http/route.js'
import { parserOf } from '../http/schema.js'
import { ServiceError } from '../http/service-error.js'

const parseStoreCard = parserOf(storeCardBody, 'body')

export const storeCardRoute = merchantRoute(routes.storeCard, deps => async ctx => {
  const { token_id: tokenId } = parseStoreCard(ctx.state.body)
  const { card, isNew } = await deps.cards.store(principalOf(ctx).merchantId, tokenId)
  return { status: isNew ? 201 : 200, body: presentCard(card, deps.clock.now()) }
})

export const readCardRoute = merchantRoute(routes.readCard, deps => async ctx => {
  const card = await deps.cards.read(principalOf(ctx).merchantId, cardIdInPath(ctx))
  if (card === null) throw new ServiceError('not_found')
  return { status: 200, body: presentCard(card, deps.clock.now()) }
})

export const eraseCardRoute = merchantRoute(routes.eraseCard, deps => async ctx => {
  const isErased = await deps.cards.erase(principalOf(ctx).merchantId, cardIdInPath(ctx))
  if (!isErased) throw new ServiceError('not_found')
  return { status: 204 }
})

/** Text that has not the form of an id is answered 404, like the id of another merchant's card. */
function cardIdInPath(ctx: RequestContext): string {
  const id: string = ctx['params'].id
  if (!/^card_[0-9a-v]{26}$/.test(id)) throw new ServiceError('not_found')
  return id
}
