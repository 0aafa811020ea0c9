/** GET /docs, the files of that page, and GET /openapi.json: for everyone, without a key. */
import type Router from '@koa/router'
import type { RequestState } from '../http/context.js'
import { sendFresh, setHeaders } from '../http/middleware/answer.js'
import { SECURITY_HEADERS } from '../http/middleware/security-headers.js'
import type { Reference } from './reference.js'

export function addReferenceRoutes(router: Router<RequestState>, { files, contentSecurityPolicy }: Reference): void {
  for (const [path, readFile] of files) {
    router.get(path, ctx => {
      const { type, body, etag } = readFile()
      setHeaders(ctx, SECURITY_HEADERS)
      ctx.set({ 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-cache', ETag: etag })
      sendFresh(ctx, type, body)
    })
  }
}
