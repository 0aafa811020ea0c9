/**
 * Notices a secret key in a browser: every visitor of that page can read the key. Browsers name the page with `Origin`,
 * servers have no reason to. The request itself is answered as always, with a header that warns the developer. A log
 * line warns the operator.
 */
import type { Logger } from '../../../runtime/log.js'
import type { RequestContext } from '../context.js'

/** One line a minute for each key is enough to act on, and cannot be used to fill the logs. */
const SILENCE_MS = 60_000
const KEYS_MAX = 1_000
const ORIGIN_LENGTH_MAX = 200

/** Called when the request is done: looks at the key that `authenticate` has found. */
export function browserWarning(log: Logger): (ctx: RequestContext) => void {
  const toldAtMs = new Map<string, number>()
  return ctx => {
    const { origin } = ctx.req.headers
    const { principal } = ctx.state
    if (origin === undefined || origin === '' || principal === null || principal.isPublishable) return
    // The reference page, on which a reader tries a key of the test environment.
    if (origin.endsWith(`//${ctx.host}`)) return
    ctx.state.headers.push('X-Service-Warning', 'secret-key-in-browser')
    if (isTime(toldAtMs, principal.keyId)) {
      log.warn(
        { key_id: principal.keyId, merchant_id: principal.merchantId, origin: origin.slice(0, ORIGIN_LENGTH_MAX) },
        'a secret key is used in a browser: revoke it, and give the merchant a new one'
      )
    }
  }
}

function isTime(toldAtMs: Map<string, number>, keyId: string): boolean {
  const now = Date.now()
  if (now - (toldAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < SILENCE_MS) return false
  if (toldAtMs.size >= KEYS_MAX) toldAtMs.clear()
  toldAtMs.set(keyId, now)
  return true
}
