/** PUT and GET /v1/webhook-endpoint (docs/API.md#put-v1webhook-endpoint). */
import { routes } from '../../contract/routes.js'
import { presentEndpoint, presentNewEndpoint } from '../../contract/webhook-endpoint.js'
import { createEgressPolicy } from '../../runtime/egress-policy.js'
import { principalOf } from '../http/context.js'
import { merchantRoute } from '../http/route.js'
import { ServiceError } from '../http/service-error.js'
import { parseEndpointRequest } from './webhook-endpoint-request.js'

export const registerWebhookEndpointRoute = merchantRoute(routes.registerWebhookEndpoint, deps => {
  const policy = createEgressPolicy(deps.config.webhookAllowedNetworks)
  return async ctx => {
    const { url, isRotation } = parseEndpointRequest(ctx.state.body, policy)
    const endpoint = await deps.webhookEndpoints.register(principalOf(ctx).merchantId, url, isRotation)
    return { status: 200, body: presentNewEndpoint(endpoint) }
  }
})

export const readWebhookEndpointRoute = merchantRoute(routes.readWebhookEndpoint, deps => async ctx => {
  const endpoint = await deps.webhookEndpoints.find(principalOf(ctx).merchantId)
  if (endpoint === null) throw new ServiceError('webhook_endpoint_missing')
  return { status: 200, body: presentEndpoint(endpoint) }
})
