/** PUT and GET /v1/webhook-endpoint (docs/API.md#put-v1webhook-endpoint). */

import { presentEndpoint, presentNewEndpoint, webhookEndpointBody } from '../../contract/webhook-endpoint.js'
import { createEgressPolicy } from '../../runtime/egress-policy.js'
import { principalOf } from '../http/context.js'
import { merchantRoute } from '../http/route.js'
import { ServiceError } from '../http/service-error.js'
import { parseEndpointRequest } from './webhook-endpoint-request.js'

const PATH = '/v1/webhook-endpoint'

export const registerWebhookEndpointRoute = merchantRoute({
  method: 'PUT',
  path: PATH,
  permission: 'webhooks:write',
  body: { schema: webhookEndpointBody, isOptional: false },
  answer(deps) {
    const policy = createEgressPolicy(deps.config.webhookAllowedNetworks)
    return async ctx => {
      const { url, isRotation } = parseEndpointRequest(ctx.state.body, policy)
      const endpoint = await deps.webhookEndpoints.register(principalOf(ctx).merchantId, url, isRotation)
      return { status: 200, body: presentNewEndpoint(endpoint) }
    }
  }
})

export const readWebhookEndpointRoute = merchantRoute({
  method: 'GET',
  path: PATH,
  permission: 'webhooks:write',
  answer: deps => async ctx => {
    const endpoint = await deps.webhookEndpoints.find(principalOf(ctx).merchantId)
    if (endpoint === null) throw new ServiceError('webhook_endpoint_missing')
    return { status: 200, body: presentEndpoint(endpoint) }
  }
})
