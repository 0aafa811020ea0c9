/**
 * GET /v1/cards/{id} (docs/API.md#get-v1cardsid): reads a stored card.
 * DELETE /v1/cards/{id} (docs/API.md#delete-v1cardsid): erases it.
 */
import { ServiceError } from '../../runtime/errors.js'
import { principalOf, type RequestContext } from '../http/context.js'
import type { MerchantRoute } from '../http/route.js'
import { presentCard } from './card-presenter.js'

const facts = {
  path: '/v1/cards/:id',
  permission: 'cards:write',
  needsIdempotencyKey: false,
  body: null,
  query: null
} as const

export const readCardRoute: MerchantRoute = {
  ...facts,
  method: 'GET',
  answer: deps => async ctx => {
    const card = await deps.cards.read(principalOf(ctx).merchantId, cardIdInPath(ctx))
    if (card === null) throw new ServiceError('not_found')
    return { status: 200, body: presentCard(card) }
  }
}

export const eraseCardRoute: MerchantRoute = {
  ...facts,
  method: 'DELETE',
  answer: deps => async ctx => {
    const isErased = await deps.cards.erase(principalOf(ctx).merchantId, cardIdInPath(ctx))
    if (!isErased) throw new ServiceError('not_found')
    return { status: 204 }
  }
}

/** What can be no id of a card is none: 404, like the id of another merchant's. */
function cardIdInPath(ctx: RequestContext): string {
  const id: string = ctx['params'].id
  if (!/^card_[0-9a-v]{26}$/.test(id)) throw new ServiceError('not_found')
  return id
}
