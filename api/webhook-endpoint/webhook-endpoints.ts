/** The stored webhook endpoints of merchants, with their derived secrets. */
import type { NewEndpoint, ShownEndpoint } from '../../contract/webhook-endpoint.js'
import type { WebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import type { Clock } from '../../runtime/clock.js'
import type { KeyHolder } from '../../vault/watched-keys.js'
import type { WebhookSecrets } from '../../vault/webhook-secrets.js'

/** What the routes of the webhook endpoint need. */
export interface WebhookEndpoints {
  /** Registers the URL of a merchant. The same URL again changes nothing, unless `isRotation` requests a new secret. */
  register(merchantId: string, url: string, isRotation: boolean): Promise<NewEndpoint>
  /** Null when none is registered. */
  find(merchantId: string): Promise<ShownEndpoint | null>
}

export function createWebhookEndpoints(
  store: Pick<WebhookEndpointStore, 'register' | 'find'>,
  secrets: WebhookSecrets & Pick<KeyHolder, 'keyIds'>,
  clock: Clock
): WebhookEndpoints {
  return {
    register: async (merchantId, url, isRotation) => {
      const request = { merchantId, url, isRotation, keyId: secrets.keyIds().current, nowMs: clock.now() }
      const { seed, updatedAtMs } = await store.register(request)
      return { url, secret: secrets.secretOf(seed, merchantId), updatedAtMs }
    },
    find: merchantId => store.find(merchantId)
  }
}
