/** Webhook endpoints: the stored ones, together with the secrets that are derived for them. */
import type { WebhookEndpoint as StoredEndpoint, WebhookEndpointStore } from '../redis/webhook-endpoints.js'
import type { Clock } from '../runtime/clock.js'
import type { WebhookSecrets } from '../vault/webhook-secrets.js'
import type { WebhookEndpoint, WebhookEndpoints } from './webhook-endpoints-port.js'

export function createWebhookEndpoints(
  store: WebhookEndpointStore,
  secrets: WebhookSecrets,
  clock: Clock
): WebhookEndpoints {
  const withSecret = (merchantId: string, { url, seed, updatedAtMs }: StoredEndpoint): WebhookEndpoint => {
    return { url, secret: secrets.secretOf(seed, merchantId), updatedAtMs }
  }
  return {
    register: async (merchantId, url, isRotation) => {
      const request = { merchantId, url, isRotation, keyId: secrets.currentKeyId, nowMs: clock.now() }
      return withSecret(merchantId, await store.register(request))
    },
    find: async merchantId => {
      const stored = await store.find(merchantId)
      return stored === null ? null : withSecret(merchantId, stored)
    }
  }
}
