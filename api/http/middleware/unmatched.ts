/** What no route has answered: OPTIONS, a method that the address does not know (405), an unknown address (404). */
import type { Layer } from '@koa/router'
import { ServiceError } from '../../../runtime/errors.js'
import type { RequestMiddleware } from '../context.js'

/** Comes after the router, which leaves in `ctx.matched` the routes that have this path with any method. */
export function unmatched(): RequestMiddleware {
  return ctx => {
    const matched: readonly Layer[] = ctx['matched'] ?? []
    const methods = new Set(matched.flatMap(layer => layer.methods))
    if (methods.size === 0) throw new ServiceError('not_found')
    const headers = { Allow: [...methods, 'OPTIONS'].sort().join(', ') }
    if (ctx.method !== 'OPTIONS') throw new ServiceError('method_not_allowed', { headers })
    ctx.state.answer = { status: 204, headers }
  }
}
