/** The routes of stored cards, of the webhook endpoint, and of what the service can do. */
import { capabilitiesSchema } from './capabilities.js'
import { cardSchema, storeCardBody } from './card.js'
import type { RouteFacts } from './route.js'
import { registeredWebhookEndpointSchema, webhookEndpointBody, webhookEndpointSchema } from './webhook-endpoint.js'

export const otherRoutes = {
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
  },
  registerWebhookEndpoint: {
    method: 'PUT',
    path: '/v1/webhook-endpoint',
    permission: 'webhooks:write',
    body: { schema: webhookEndpointBody, isOptional: false },
    tag: 'Webhooks',
    summary: 'Register the address for webhooks, or rotate its secret',
    text: 'The same URL again changes nothing, but with `rotate_secret`; another URL has a new secret.',
    answers: [{ status: 200, schema: registeredWebhookEndpointSchema, means: 'Registered.' }],
    errors: []
  },
  readWebhookEndpoint: {
    method: 'GET',
    path: '/v1/webhook-endpoint',
    permission: 'webhooks:write',
    tag: 'Webhooks',
    summary: 'Read the address for webhooks',
    text: 'Without its secret, which only the registration answers.',
    answers: [{ status: 200, schema: webhookEndpointSchema, means: 'The address that is registered.' }],
    errors: ['webhook_endpoint_missing']
  },
  readCapabilities: {
    method: 'GET',
    path: '/v1/capabilities',
    permission: 'payments:read',
    tag: 'Service',
    summary: 'What this service can do',
    text: 'Limits and addresses, which depend on the environment of the key.',
    answers: [{ status: 200, schema: capabilitiesSchema, means: 'What it can do.' }],
    errors: []
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
