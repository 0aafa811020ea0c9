/** Where browsers and merchants get the hosted fields: the script, its hashes, the page of the iframe. */
import type Router from '@koa/router'
import { ServiceError } from '../../runtime/errors.js'
import type { RequestContext, RequestState } from '../http/context.js'
import { sendFresh, setHeaders } from '../http/middleware/answer.js'
import { SECURITY_HEADERS } from '../http/middleware/security-headers.js'
import type { FieldsRelease, HostedFields } from './hosted-fields.js'

const FOREVER = 'public, max-age=31536000, immutable'
const BRIEFLY = 'public, max-age=300'
/** Asked again each time, and answered 304: a page and the API behind it must not be of different days. */
const ASK_AGAIN = 'no-cache'

/**
 * - `GET /v1/fields.js`: the current script, for pages that want every correction without a change
 * - `GET /v1/fields/<version>/fields.js`: one build for ever, for pages that pin it by its hash
 * - `GET /v1/fields.json`: address and hash of the current build
 * - `GET /v1/fields/frame`: the page that the script embeds
 */
export function addFieldsRoutes(router: Router<RequestState>, { current, releases, page }: HostedFields): void {
  router.get('/v1/fields.js', ctx => sendScript(ctx, current, BRIEFLY))
  router.get('/v1/fields/:version/fields.js', ctx => {
    const release = releases.get(ctx.params['version'] ?? '')
    if (release === undefined) throw new ServiceError('not_found')
    sendScript(ctx, release, FOREVER)
  })
  router.get('/v1/fields.json', ctx => {
    setHeaders(ctx, SECURITY_HEADERS)
    ctx.set('Cache-Control', BRIEFLY)
    ctx.body = {
      version: current.version,
      path: `/v1/fields/${current.version}/fields.js`,
      integrity: current.integrity
    }
  })
  router.get('/v1/fields/frame', ctx => {
    setHeaders(ctx, SECURITY_HEADERS)
    ctx.remove('X-Frame-Options')
    ctx.set({
      'Content-Security-Policy': page.contentSecurityPolicy,
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), display-capture=(), usb=()',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': ASK_AGAIN,
      ETag: page.etag
    })
    sendFresh(ctx, 'html', page.html)
  })
}

function sendScript(ctx: RequestContext, release: FieldsRelease, cacheControl: string): void {
  setHeaders(ctx, SECURITY_HEADERS)
  ctx.set({
    'Cache-Control': cacheControl,
    // Merchants load it from their own origin; without this, the browser refuses.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ETag: `"${release.version}"`
  })
  sendFresh(ctx, 'text/javascript; charset=utf-8', release.source)
}
