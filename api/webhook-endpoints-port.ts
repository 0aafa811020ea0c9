/** What the routes of the webhook endpoint need. api/webhook-endpoints.ts implements it. */

/** docs/API.md#put-v1webhook-endpoint */
export interface WebhookEndpoint {
  readonly url: string
  readonly secret: string
  readonly updatedAtMs: number
}

export interface WebhookEndpoints {
  /** Registers the URL of a merchant; the same URL again changes nothing, unless `isRotation` asks for a new secret. */
  register(merchantId: string, url: string, isRotation: boolean): Promise<WebhookEndpoint>
  /** Null when none is registered. */
  find(merchantId: string): Promise<WebhookEndpoint | null>
}
