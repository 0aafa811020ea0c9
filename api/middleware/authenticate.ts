/** The first thing that every route does: whose key is it, and may it do this. */
import type { Permission } from '../../redis/merchants.js'
import { ServiceError } from '../../runtime/errors.js'
import type { Authenticator } from '../authenticator.js'
import type { RequestMiddleware } from '../context.js'

/** Leaves the key's merchant in `ctx.state.principal`, or throws 401 / 403 (docs/API.md#keys). */
export function authenticate(authenticator: Authenticator, permission: Permission): RequestMiddleware {
  return async (ctx, next) => {
    const principal = await authenticator.authenticate(ctx.get('Authorization') || undefined)
    // Also for a key without the permission: browser-use.ts looks at the key of every request.
    ctx.state.principal = principal
    if (!principal.permissions.includes(permission)) {
      const message = `must be a key with the permission ${permission}`
      throw new ServiceError('insufficient_scope', { fields: [{ path: 'header Authorization', message }] })
    }
    return next()
  }
}
