/**
 * Files of the hosted fields, and their routes. The page in the iframe has its script and style inline, and its policy allows
 * only their hashes, so that no other script can run in it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type Router from '@koa/router'
import type { RequestContext, RequestState } from '../http/context.js'
import { etagOf, SECURITY_HEADERS, type StaticFile, sendFile, setHeaders } from '../http/middleware/answer.js'
import { ServiceError } from '../http/service-error.js'

/** A build of fields.js. */
export interface FieldsRelease {
  /** The beginning of its SHA-256 (hex): equal contents have equal versions, on every machine. */
  readonly version: string
  readonly source: Buffer
  /** For the attribute `integrity`. */
  readonly integrity: string
}

export interface HostedFields {
  readonly current: FieldsRelease
  /** The builds at versioned paths: the current one, and those of earlier releases. */
  readonly releases: ReadonlyMap<string, FieldsRelease>
  readonly page: StaticFile & { readonly contentSecurityPolicy: string }
}

const VERSION_DIGITS = 32
const FOREVER = 'public, max-age=31536000, immutable'
const BRIEFLY = 'public, max-age=300'
/** Revalidated by each request, so that page and API are of the same release. */
const ASK_AGAIN = 'no-cache'
const FOLDER = new URL('../../hosted-fields/', import.meta.url)
const EARLIER = fileURLToPath(new URL('earlier', FOLDER))

/**
 * Reads the build in dist/hosted-fields, and from `earlierDir`, where there is such a folder, earlier builds of fields.js that
 * merchants may have pinned (`<version>.js`). Throws when a file is missing, or its content does not match its name.
 */
export function loadHostedFields(earlierDir = EARLIER): HostedFields {
  const current = releaseOf(readFileSync(new URL('fields.js', FOLDER)))
  const earlier = existsSync(earlierDir) ? readReleases(earlierDir) : []
  return {
    current,
    releases: new Map([...earlier, current].map(release => [release.version, release])),
    page: assemblePage(text('frame.html'), text('frame.css'), text('frame.js'))
  }
}

/**
 * - `GET /v1/fields.js`: the current script, for pages that always use the latest build
 * - `GET /v1/fields/<version>/fields.js`: one build, for pages that pin its hash
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
    sendFile(ctx, page, {
      'Content-Security-Policy': page.contentSecurityPolicy,
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), display-capture=(), usb=()',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': ASK_AGAIN
    })
    ctx.remove('X-Frame-Options')
  })
}

function sendScript(ctx: RequestContext, { version, source }: FieldsRelease, cacheControl: string): void {
  const file = { type: 'text/javascript; charset=utf-8', body: source, etag: `"${version}"` }
  // Pages of other origins load it; browsers require this header for that.
  sendFile(ctx, file, { 'Cache-Control': cacheControl, 'Cross-Origin-Resource-Policy': 'cross-origin' })
}

function text(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8')
}

function releaseOf(source: Buffer): FieldsRelease {
  return {
    source,
    version: createHash('sha256').update(source).digest('hex').slice(0, VERSION_DIGITS),
    integrity: `sha384-${createHash('sha384').update(source).digest('base64')}`
  }
}

function readReleases(folder: string): FieldsRelease[] {
  const names = readdirSync(folder).filter(name => name.endsWith('.js'))
  return names.map(name => {
    const release = releaseOf(readFileSync(join(folder, name)))
    if (`${release.version}.js` === name) return release
    throw new Error(`${join(folder, name)} is no build of fields.js: its contents have the version ${release.version}.`)
  })
}

function assemblePage(html: string, style: string, script: string): HostedFields['page'] {
  const page = html
    .replace('<!--style-->', () => `<style>${style}</style>`)
    .replace('<!--script-->', () => `<script>${script}</script>`)
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    // Any merchant may embed it: the publishable key decides the merchant of a token.
    'frame-ancestors *',
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; ')
  return { type: 'html', body: page, etag: etagOf(page), contentSecurityPolicy }
}

function hashSource(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
}
