/** The scope of a payment POST, and the payment id in a path. */
import { shortHash } from '../../redis/keys.js'
import { isRecord } from '../../runtime/json.js'
import { isUuid } from '../../runtime/uuid.js'
import { principalOf, type RequestContext } from '../http/context.js'
import { ServiceError } from '../http/service-error.js'
import type { RequestScope } from './payments-port.js'

/** Seconds; RFC 7240 leaves the bound to the server. */
const WAIT_S_MAX = 30

/** Comes after `authenticate`, `readIdempotencyKey` and `readJson`. */
export function scopeOf(ctx: RequestContext, operation: string, defaultWaitMs: number): RequestScope {
  const waitS = preferredWaitS(ctx)
  return {
    merchantId: principalOf(ctx).merchantId,
    idempotencyKey: ctx.state.idempotencyKey,
    fingerprint: fingerprintOfAny(operation, ctx.state.body),
    waitMs: waitS === null ? defaultWaitMs : waitS * 1_000,
    correlationId: ctx.state.correlationId,
    traceparent: ctx.state.traceparent
  }
}

/** The `{id}` of the path, in lower case. Text that is not a UUID is answered 404, like the id of another merchant. */
export function paymentIdInPath(ctx: RequestContext): string {
  const id: string = ctx['params'].id
  if (!isUuid(id)) throw new ServiceError('not_found')
  return id.toLowerCase()
}

/** `Prefer: wait=N` (RFC 7240) in seconds, 0 to 30. Null when it is absent or invalid: preferences never fail. */
export function preferredWaitS(ctx: RequestContext): number | null {
  for (const preference of ctx.get('Prefer').split(',')) {
    const text = /^\s*wait\s*=\s*"?(\d{1,3})"?\s*(;|$)/i.exec(preference)?.[1]
    if (text !== undefined) return Number(text) <= WAIT_S_MAX ? Number(text) : null
  }
  return null
}

/**
 * "Same body" (docs/API.md#idempotency): the same method, path and JSON value; key order and spaces don't matter. A short
 * hash, because millions are kept with their Idempotency-Keys.
 *
 * @param operation method and path, such as `POST /v1/payments`
 * @param body the JSON value; undefined (no body) counts as `{}`
 */
export function fingerprintOf(operation: string, body: unknown): string {
  return shortHash(`${operation}\n${canonicalJson(withoutCvv(body ?? {}))}`)
}

/** Of any body, also one that breaks a rule. One that is nested deeper than the stack allows is like no accepted body. */
function fingerprintOfAny(operation: string, body: unknown): string {
  try {
    return fingerprintOf(operation, body)
  } catch (error) {
    if (error instanceof RangeError) return ''
    throw error
  }
}

/**
 * Replaces the CVV by its presence. A hash over one of 11,000 possible values reveals the value, and would be a CVV on
 * disk.
 */
function withoutCvv(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body['payment_source']) || body['payment_source']['cvv'] == null) return body
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
