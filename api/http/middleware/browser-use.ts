/**
 * Detects secret keys in browsers, where every visitor of a page can read them: browsers send `Origin`, servers do not. The
 * request is answered as usual, with a header that warns the developer. A log line warns the operator.
 */
import { holdsCardData } from '../../../machines/card-data-in-text.js'
import type { Logger } from '../../../runtime/log.js'
import type { RequestContext } from '../context.js'

/** One line per key and minute, so that an attacker cannot fill the log. */
const SILENCE_MS = 60_000
const KEYS_MAX = 1_000
const ORIGIN_LENGTH_MAX = 200

/** Called after the request: checks the key that `authenticate` found. */
export function browserWarning(log: Logger): (ctx: RequestContext) => void {
  const warnedAtMs = new Map<string, number>()
  return ctx => {
    const { origin } = ctx.req.headers
    const { principal } = ctx.state
    if (origin === undefined || origin === '' || principal === null || principal.isPublishable) return
    // The reference page, where readers use keys of the test environment.
    if (origin.endsWith(`//${ctx.host}`)) return
    ctx.state.headers.push('X-Service-Warning', 'secret-key-in-browser')
    if (isTime(warnedAtMs, principal.keyId)) {
      log.warn(
        { key_id: principal.keyId, merchant_id: principal.merchantId, origin: loggable(origin) },
        'a secret key is used in a browser: revoke it, and give the merchant a new one'
      )
    }
  }
}

/** Any program can send any text as its origin. */
function loggable(origin: string): string {
  return holdsCardData(origin) ? '(card data)' : origin.slice(0, ORIGIN_LENGTH_MAX)
}

function isTime(warnedAtMs: Map<string, number>, keyId: string): boolean {
  const now = Date.now()
  if (now - (warnedAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < SILENCE_MS) return false
  if (warnedAtMs.size >= KEYS_MAX) warnedAtMs.clear()
  warnedAtMs.set(keyId, now)
  return true
}
