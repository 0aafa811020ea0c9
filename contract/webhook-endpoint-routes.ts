/** The routes of the webhook endpoint. */
import type { RouteFacts } from './route.js'
import { registeredWebhookEndpointSchema, webhookEndpointBody, webhookEndpointSchema } from './webhook-endpoint.js'

export const webhookEndpointRoutes = {
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
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
