/** A webhook endpoint as merchants see it: docs/API.md#put-v1webhook-endpoint. */
import type { WebhookEndpoint } from './webhook-endpoints.js'

const SIGNATURE_HEADER = 'X-Service-Signature'

/** The answer to a registration, the secret included. */
export function presentNewEndpoint(endpoint: WebhookEndpoint & { readonly secret: string }): Record<string, unknown> {
  return { url: endpoint.url, secret: endpoint.secret, ...signatureAndTime(endpoint) }
}

/** The answer to a read, which never shows the secret. */
export function presentEndpoint(endpoint: WebhookEndpoint): Record<string, unknown> {
  return { url: endpoint.url, ...signatureAndTime(endpoint) }
}

function signatureAndTime({ updatedAtMs }: WebhookEndpoint): Record<string, unknown> {
  return { signature_header: SIGNATURE_HEADER, updated_at: new Date(updatedAtMs).toISOString() }
}
