/**
 * The reference page and its documents: Swagger UI from its package, our page, docs/openapi.json and its like. `npm run build`
 * puts them into dist/reference. The page loads nothing from other origins.
 */
import { readFileSync } from 'node:fs'
import type Router from '@koa/router'
import type { Config } from '../../runtime/config.js'
import type { RequestState } from '../http/context.js'
import { etagOf, type StaticFile, sendFile } from '../http/middleware/answer.js'

export interface Reference {
  /**
   * A reader for each path, such as `/docs`. Files are read per request, because a document has the number of a test card,
   * and no card number may stay in the memory of `api`.
   */
  readonly files: ReadonlyMap<string, () => StaticFile>
  readonly contentSecurityPolicy: string
}

const FOLDER = new URL('../../reference/', import.meta.url)
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** The documents, each with the process that serves what it describes. OpenAPI 3.1, and 3.0 for generators. */
const DOCUMENTS = [
  ['openapi.json', 'api'],
  ['openapi-3.0.json', 'api'],
  ['openapi-tokens.json', 'tokens'],
  ['openapi-tokens-3.0.json', 'tokens']
] as const

/** Null in live: merchants try the API in the test environment. */
export function loadReference(config: Config): Reference | null {
  if (config.environment === 'live') return null
  const files = [
    ['/docs', () => fileOf('text/html; charset=utf-8', read('page.html'))],
    ['/docs/page.js', () => fileOf(SCRIPT, read('page.js'))],
    ['/docs/page.css', () => fileOf(STYLE, read('page.css'))],
    ['/docs/swagger-ui-bundle.js', () => fileOf(SCRIPT, read('swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', () => fileOf(STYLE, read('swagger-ui.css'))],
    ...DOCUMENTS.map(([name, server]) => {
      const url = server === 'api' ? '/' : config.tokensUrl
      return [`/${name}`, () => fileOf('application/json; charset=utf-8', documentFor(name, url))] as const
    })
  ] as const
  const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The style of Swagger UI embeds icons.
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(config.tokensUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
  return { files: new Map(files), contentSecurityPolicy }
}

/** GET /docs, the files of that page, and the documents: for everyone, without a key. */
export function addReferenceRoutes(router: Router<RequestState>, { files, contentSecurityPolicy }: Reference): void {
  const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-cache' }
  for (const [path, readFile] of files) router.get(path, ctx => sendFile(ctx, readFile(), headers))
}

/** The document with the address of this installation. */
function documentFor(name: string, url: string): string {
  return JSON.stringify({ ...JSON.parse(read(name)), servers: [{ url }] })
}

function fileOf(type: string, body: string): StaticFile {
  return { type, body, etag: etagOf(body) }
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8')
}
