/** Webhook endpoints: the stored ones, together with the secrets that are derived for them. */
import type { WebhookEndpoint as StoredEndpoint, WebhookEndpointStore } from '../redis/webhook-endpoints.js'
import type { WebhookSwitches } from '../redis/webhook-switches.js'
import type { Clock } from '../runtime/clock.js'
import type { KeyHolder } from '../vault/watched-keys.js'
import type { WebhookSecrets } from '../vault/webhook-secrets.js'
import type { WebhookEndpoint, WebhookEndpoints } from './webhook-endpoints-port.js'

export function createWebhookEndpoints(
  store: WebhookEndpointStore,
  secrets: WebhookSecrets & Pick<KeyHolder, 'keyIds'>,
  clock: Clock,
  switches: Pick<WebhookSwitches, 'switchOn'>
): WebhookEndpoints {
  const withSecret = (merchantId: string, { url, seed, updatedAtMs }: StoredEndpoint): WebhookEndpoint => {
    return { url, secret: secrets.secretOf(seed, merchantId), updatedAtMs }
  }
  return {
    register: async (merchantId, url, isRotation) => {
      const request = { merchantId, url, isRotation, keyId: secrets.keyIds().current, nowMs: clock.now() }
      const registered = await store.register(request)
      // A registration asks for events, so it also ends an operator's switch-off. The client repeats an unanswered one.
      await switches.switchOn(merchantId)
      return withSecret(merchantId, registered)
    },
    find: async merchantId => {
      const stored = await store.find(merchantId)
      return stored === null ? null : withSecret(merchantId, stored)
    }
  }
}
