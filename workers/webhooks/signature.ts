/** The header that proves the sender of a webhook and when it was sent (docs/WEBHOOKS.md#what-arrives). */
import { createHmac } from 'node:crypto'

/**
 * `t=<unix seconds>,v1=<hex>`, with one `v1` per secret: during a rotation the receiver may know either.
 * The key is the whole text of the secret, `whsec_` included; the message is `<t>.<raw body>`.
 */
export function signatureHeader(secrets: readonly string[], sentAtMs: number, body: string): string {
  const t = Math.floor(sentAtMs / 1_000)
  const signatures = secrets.map(secret => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`)
  return [`t=${t}`, ...signatures].join(',')
}
