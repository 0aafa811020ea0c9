/**
 * The signing secrets of webhook endpoints. They are derived, never stored: HMAC-SHA256 of merchant and salt, under a
 * key that `api` (which shows a secret) and `webhooks` (which signs) read from a file of their own.
 *
 * The file: `{"current":"k1","keys":{"k1":"<32 bytes, base64>"}}`. Old keys stay in it as long as endpoints use them.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VaultError } from './errors.js'

export interface WebhookSecrets {
  /** The key for new secrets. */
  readonly currentKeyId: string
  /** The secret `whsec_…` of a merchant and salt. Throws `VaultError` `unknown_key`. */
  secretOf(seed: { readonly keyId: string; readonly salt: string }, merchantId: string): string
}

const KEY_BYTES = 32

/** Reads the key file. Throws `VaultError` `key_file`. */
export function loadWebhookSecrets(file: string): WebhookSecrets {
  const { current, keys } = readKeys(file)
  return {
    currentKeyId: current,
    secretOf: ({ keyId, salt }, merchantId) => {
      const key = keys.get(keyId)
      if (key === undefined) {
        throw new VaultError(
          'unknown_key',
          `The webhook secret of merchant ${merchantId} was derived from key ${keyId}, which ${file} does not have. Give this process the file with that key.`
        )
      }
      return `whsec_${createHmac('sha256', key).update(`webhook\n${merchantId}\n${salt}`).digest('base64url')}`
    }
  }
}

/** Makes the key file of an installation in `dir` (mode 0600), unless it is there. Returns its path. */
export function generateWebhookKeyFile(dir: string): string {
  const file = join(dir, 'webhook-keys.json')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if (!existsSync(file)) {
    const ring = { current: 'k1', keys: { k1: randomBytes(KEY_BYTES).toString('base64') } }
    // `wx`: of two that make it at once, one wins.
    writeFileSync(file, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  }
  return file
}

/** The error of JSON.parse is dropped on purpose: it quotes the text around the mistake. */
function readKeys(file: string): { current: string; keys: ReadonlyMap<string, Buffer> } {
  let ring: unknown
  try {
    ring = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw badFile(file, 'cannot be read as JSON')
  }
  const { current, keys } = Object(ring) as { current?: unknown; keys?: unknown }
  const pairs = Object.entries(Object(keys)).map(([id, key]) => [id, Buffer.from(String(key), 'base64')] as const)
  if (pairs.some(([, key]) => key.length !== KEY_BYTES)) throw badFile(file, `has a key that is not ${KEY_BYTES} bytes`)
  const ids = new Map(pairs)
  if (typeof current !== 'string' || !ids.has(current)) throw badFile(file, 'has no key with the id of "current"')
  return { current, keys: ids }
}

function badFile(file: string, problem: string): VaultError {
  return new VaultError(
    'key_file',
    `The webhook key file ${file} ${problem}. Correct WEBHOOK_KEYS_FILE or restore the file; with a new one, every merchant's signing secret changes.`
  )
}
