/** The webhook endpoint of a merchant (docs/API.md#put-v1webhook-endpoint): its schemas, and how it is shown. */
import { component, object, type Shown, text, time } from './answer-fields.js'
import { timestamp } from './payment-parts.js'

const SIGNATURE_HEADER = 'X-Service-Signature'

const url = text('where webhooks are posted')
const about = {
  signature_header: text('the header that carries the signature'),
  updated_at: time('last change of the URL or the secret')
}

export const registeredWebhookEndpoint = component(
  'RegisteredWebhookEndpoint',
  object({ url, secret: text('the signing secret, `whsec_…`; answered by PUT, never by GET'), ...about })
)

export const webhookEndpoint = component('WebhookEndpoint', object({ url, ...about }))

interface ShownEndpoint {
  readonly url: string
  readonly updatedAtMs: number
}

/** The answer to a registration, the secret included. */
export function presentNewEndpoint(
  endpoint: ShownEndpoint & { readonly secret: string }
): Shown<typeof registeredWebhookEndpoint> {
  return { url: endpoint.url, secret: endpoint.secret, ...signatureAndTime(endpoint) }
}

/** The answer to a read, which never shows the secret. */
export function presentEndpoint(endpoint: ShownEndpoint): Shown<typeof webhookEndpoint> {
  return { url: endpoint.url, ...signatureAndTime(endpoint) }
}

function signatureAndTime({ updatedAtMs }: ShownEndpoint): { signature_header: string; updated_at: string } {
  return { signature_header: SIGNATURE_HEADER, updated_at: timestamp(updatedAtMs) }
}
