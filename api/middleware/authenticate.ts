/** The first thing that every route does: whose key is it, and may it do this. */
import type { Permission } from '../../redis/merchants.js'
import type { Authenticator } from '../auth/authenticator.js'
import type { RequestMiddleware } from '../context.js'

/** Leaves the key's merchant in `ctx.state.principal`, or throws 401 / 403 (interface section 5). */
export function authenticate(authenticator: Authenticator, permission: Permission): RequestMiddleware {
  return async (ctx, next) => {
    ctx.state.principal = await authenticator.authenticate(ctx.get('Authorization') || undefined, permission)
    return next()
  }
}
