/** Verifies webhooks. Do not trust the content of one before. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookEvent } from './webhook-types.js'

/** The header that carries the signature. */
export const SIGNATURE_HEADER = 'X-Service-Signature'

export interface VerifyOptions {
  /** How far the time of the signature may be from now, in ms, before or after; 300,000 by default. */
  readonly toleranceMs?: number | undefined
  /** The time now, in ms since 1970. */
  readonly nowMs?: number | undefined
}

/**
 * `malformed_header`: no signature, or not of this service · `outside_tolerance`: too old, or a clock is wrong ·
 * `wrong_signature`: another secret or another body · `unreadable`: signed, and no JSON object
 */
export type WebhookErrorCode = 'malformed_header' | 'outside_tolerance' | 'wrong_signature' | 'unreadable'

/** The request is not an authentic webhook: answer 4xx, and do nothing. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The event, when one of the secrets signed it. Throws `WebhookError`, and `TypeError` for arguments with which nothing can be
 * verified.
 *
 * @param rawBody the bytes as they arrived, or their text: printing parsed JSON again changes them
 * @param header of `X-Service-Signature`, as `request.headers` of Node has it. During a rotation it has a signature for each
 * secret, and one that fits is enough
 * @param secrets `whsec_…` of the endpoint, or several, such as the new one and the one before
 */
export function verify(
  rawBody: string | Uint8Array,
  header: string | readonly string[] | null | undefined,
  secrets: string | readonly string[],
  { toleranceMs = 300_000, nowMs = Date.now() }: VerifyOptions = {}
): WebhookEvent {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('`rawBody` must be the body as it arrived: text or bytes, before a JSON parser.')
  }
  // With NaN every age would do.
  if (!(Number.isFinite(nowMs) && Number.isFinite(toleranceMs) && toleranceMs >= 0)) {
    throw new TypeError('`toleranceMs` must be a number of 0 or more, and `nowMs` a time in ms since 1970.')
  }
  const candidates = [secrets].flat()
  if (candidates.length === 0 || candidates.some(secret => typeof secret !== 'string' || secret === '')) {
    throw new TypeError(
      '`secrets` must be the signing secret of the endpoint, or a list of secrets, none of them empty.'
    )
  }
  const { sentAt, signatures } = readHeader([header ?? ''].flat().join(','))
  const ageMs = nowMs - Number(sentAt) * 1_000
  if (Math.abs(ageMs) > toleranceMs) {
    const away = `${Math.round(Math.abs(ageMs) / 1_000)} s ${ageMs < 0 ? 'after' : 'before'} now`
    throw new WebhookError(
      'outside_tolerance',
      `The webhook was signed ${away}, and at most ${toleranceMs / 1_000} s are accepted. Compare your clock, or it is an old request.`
    )
  }
  const expected = candidates.map(secret => createHmac('sha256', secret).update(`${sentAt}.`).update(rawBody).digest())
  const isSigned = signatures.some(given =>
    expected.some(one => given.length === one.length && timingSafeEqual(given, one))
  )
  if (!isSigned)
    throw new WebhookError('wrong_signature', 'No signature of the webhook was made with this secret and body.')
  return readEvent(rawBody)
}

/** `t=1767355200,v1=5f0c…,v1=77aa…` */
function readHeader(header: string): { sentAt: string; signatures: Buffer[] } {
  const parts = header.split(',').map(part => part.trim().split('='))
  const sentAt = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? [Buffer.from(value, 'hex')] : []))
  if (/^\d{1,12}$/.test(sentAt) && signatures.length > 0) return { sentAt, signatures }
  throw new WebhookError('malformed_header', `The header ${SIGNATURE_HEADER} has no time or no signature.`)
}

function readEvent(rawBody: string | Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'))
    if (typeof event === 'object' && event !== null) return event as WebhookEvent
  } catch {
    // Refused below.
  }
  throw new WebhookError('unreadable', 'The webhook is signed, and its body is not a JSON object.')
}
