/** "Same body" (docs/API.md#idempotency): the same method, path and JSON value. Key order and spaces don't matter. */
import { shortHash } from '../../redis/keys.js'
import { isRecord } from '../../runtime/json.js'

/**
 * Hash of a request, kept with its Idempotency-Key: short, because millions are kept.
 *
 * @param operation method and path, such as `POST /v1/payments`
 * @param body the validated JSON value; undefined (no body) counts as `{}`
 */
export function fingerprintOf(operation: string, body: unknown): string {
  return shortHash(`${operation}\n${canonicalJson(withoutCvv(body ?? {}))}`)
}

/**
 * Only that there was a CVV counts, not which: a hash that holds one of 11,000 possible values is that value, and
 * would be a CVV on disk.
 */
function withoutCvv(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body['payment_source']) || !('cvv' in body['payment_source'])) return body
  return { ...body, payment_source: { ...body['payment_source'], cvv: true } }
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  let members = ''
  for (const key of Object.keys(value).sort()) {
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key])}`
  }
  return `{${members}}`
}
