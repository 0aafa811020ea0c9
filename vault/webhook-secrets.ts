/**
 * The signing secrets of webhook endpoints. They are derived, never stored: HMAC-SHA256 of merchant and salt, under a
 * key that `api` (which shows a secret) and `webhooks` (which signs) read from a file of their own. Neither can open a box of
 * the vault, and a secret in clear in Redis would serve each reader of a copy.
 */
import { createHmac } from 'node:crypto'
import { VaultError } from './vault-error.js'
import { type KeyHolder, watchKeys } from './watched-keys.js'

export interface WebhookSecrets {
  /** The secret `whsec_…` of a merchant and salt. Throws `VaultError` `unknown_key`. */
  secretOf(seed: { readonly keyId: string; readonly salt: string }, merchantId: string): string
}

/**
 * Reads the key file, and again after a rotation. `keyIds().current` is the key for new secrets. Throws `VaultError`
 * `key_file`.
 */
export function loadWebhookSecrets(file: string): WebhookSecrets & KeyHolder {
  const keys = watchKeys(file, 'webhook', ring => {
    const entries = Object.entries(ring.keys)
    return new Map(entries.map(([id, { secret = '' }]) => [id, Buffer.from(secret, 'base64')]))
  })
  return {
    keyIds: keys.keyIds,
    keyProblem: keys.keyProblem,
    secretOf: ({ keyId, salt }, merchantId) => {
      const key = keys.value().get(keyId) ?? keys.value(true).get(keyId)
      if (key === undefined) {
        const why =
          keys.keyProblem() ??
          'Give this process the file of the last rotation; it reads the file again without a restart.'
        throw new VaultError(
          'unknown_key',
          `The webhook secret of merchant ${merchantId} is derived from key ${keyId}, which ${file} does not have. ${why}`
        )
      }
      return `whsec_${createHmac('sha256', key).update(`webhook\n${merchantId}\n${salt}`).digest('base64url')}`
    }
  }
}
