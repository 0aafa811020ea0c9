/** PUT and GET /v1/webhook-endpoint (interface 4.7 and 4.8, design 9). */
import { ServiceError } from '../../runtime/errors.js'
import { createNetworkPolicy } from '../../runtime/network-policy.js'
import { principalOf } from '../context.js'
import { jsonBody } from '../middleware/json-body.js'
import { presentEndpoint, presentNewEndpoint } from '../presenters/webhook-endpoint.js'
import { guards, type Route, type RouteDeps } from '../route.js'
import { parseEndpointRequest } from '../schemas/webhook-endpoint.js'

const PATH = '/v1/webhook-endpoint'

export function registerWebhookEndpointRoute(deps: RouteDeps): Route {
  const policy = createNetworkPolicy(deps.config.webhookAllowedNetworks)
  return {
    method: 'PUT',
    path: PATH,
    handlers: [
      ...guards(deps, 'webhooks:write'),
      jsonBody({ isOptional: false }),
      async ctx => {
        const { url, isRotation } = parseEndpointRequest(ctx.state.body, policy)
        const endpoint = await deps.webhookEndpoints.register(principalOf(ctx).merchantId, url, isRotation)
        ctx.body = presentNewEndpoint(endpoint)
      }
    ]
  }
}

export function readWebhookEndpointRoute(deps: RouteDeps): Route {
  return {
    method: 'GET',
    path: PATH,
    handlers: [
      ...guards(deps, 'webhooks:write'),
      async ctx => {
        const endpoint = await deps.webhookEndpoints.find(principalOf(ctx).merchantId)
        if (endpoint === null) throw new ServiceError('webhook_endpoint_missing')
        ctx.body = presentEndpoint(endpoint)
      }
    ]
  }
}
