/** The routes of stored cards. */
import { cardSchema, storeCardBody } from './card.js'
import type { RouteFacts } from './route.js'

export const cardRoutes = {
  storeCard: {
    method: 'POST',
    path: '/v1/cards',
    permission: 'cards:write',
    body: { schema: storeCardBody, isOptional: false },
    tag: 'Cards',
    summary: 'Store a card for later payments',
    text: 'Exchanges a one-use token for a stored card. The security code is not stored.',
    answers: [
      { status: 200, schema: cardSchema, means: 'The same token was exchanged before, for this card.' },
      { status: 201, schema: cardSchema, means: 'Stored.' }
    ],
    errors: ['invalid_token']
  },
  readCard: {
    method: 'GET',
    path: '/v1/cards/{id}',
    permission: 'cards:write',
    tag: 'Cards',
    summary: 'Read a stored card',
    text: 'As it was stored; never its number.',
    answers: [{ status: 200, schema: cardSchema, means: 'The card.' }],
    errors: ['not_found']
  },
  eraseCard: {
    method: 'DELETE',
    path: '/v1/cards/{id}',
    permission: 'cards:write',
    tag: 'Cards',
    summary: 'Erase a stored card',
    text: 'At once and for ever. A payment that was sent with it continues; one that was not sent yet fails with `invalid_card`.',
    answers: [{ status: 204, means: 'Erased.' }],
    errors: ['not_found']
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
