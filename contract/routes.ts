/** Every route of merchants, by the name of the function that a generated client has for it; in the order of the documents. */
import { capabilitiesRoutes } from './capabilities-routes.js'
import { cardRoutes } from './card-routes.js'
import { paymentRoutes } from './payment-routes.js'
import type { RouteFacts } from './route.js'
import { testEnvironmentRoutes } from './test-environment-routes.js'
import { tokenBody, tokenSchema } from './token.js'
import { webhookEndpointRoutes } from './webhook-endpoint-routes.js'

/** The routes of `api`. */
export const routes = {
  ...paymentRoutes,
  ...cardRoutes,
  ...webhookEndpointRoutes,
  ...capabilitiesRoutes,
  ...testEnvironmentRoutes
}

/** The route of `tokens`. */
export const createToken = {
  method: 'POST',
  path: '/v1/tokens',
  permission: 'tokens:write',
  body: { schema: tokenBody, isOptional: false },
  tag: 'Tokens',
  summary: 'Turn a typed card, or the security code of a stored one, into a one-use token',
  text: "From the buyer's browser; a page normally leaves this to the hosted fields. Any origin may call it. With only `cvv` the token is a `cvv_token_id` for a payment with a stored card.",
  answers: [{ status: 201, schema: tokenSchema, means: 'The token, which lives 15 minutes and can be used once.' }],
  errors: ['invalid_card']
} as const satisfies RouteFacts
