/** The stored webhook endpoints of merchants, with their derived secrets. */
import type { WebhookEndpoint as StoredEndpoint, WebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import type { Clock } from '../../runtime/clock.js'
import type { KeyHolder } from '../../vault/watched-keys.js'
import type { WebhookSecrets } from '../../vault/webhook-secrets.js'

/** docs/API.md#put-v1webhook-endpoint */
export interface WebhookEndpoint {
  readonly url: string
  readonly secret: string
  readonly updatedAtMs: number
}

/** What the routes of the webhook endpoint need. */
export interface WebhookEndpoints {
  /** Registers the URL of a merchant. The same URL again changes nothing, unless `isRotation` requests a new secret. */
  register(merchantId: string, url: string, isRotation: boolean): Promise<WebhookEndpoint>
  /** Null when none is registered. */
  find(merchantId: string): Promise<WebhookEndpoint | null>
}

export function createWebhookEndpoints(
  store: Pick<WebhookEndpointStore, 'register' | 'find'>,
  secrets: WebhookSecrets & Pick<KeyHolder, 'keyIds'>,
  clock: Clock
): WebhookEndpoints {
  const withSecret = (merchantId: string, { url, seed, updatedAtMs }: StoredEndpoint): WebhookEndpoint => {
    return { url, secret: secrets.secretOf(seed, merchantId), updatedAtMs }
  }
  return {
    register: async (merchantId, url, isRotation) => {
      const request = { merchantId, url, isRotation, keyId: secrets.keyIds().current, nowMs: clock.now() }
      return withSecret(merchantId, await store.register(request))
    },
    find: async merchantId => {
      const stored = await store.find(merchantId)
      return stored === null ? null : withSecret(merchantId, stored)
    }
  }
}
