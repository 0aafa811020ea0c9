/** The first thing that every route does: whose key is it, and may it do this. */
import type { Permission } from '../../../redis/merchants/merchants.js'
import { ServiceError } from '../../../runtime/errors.js'
import type { Authenticator, Principal } from '../authenticator.js'
import type { RequestContext } from '../context.js'

/** Leaves the key's merchant in `ctx.state.principal`, or throws 401 / 403 (docs/API.md#keys). */
export async function authenticate(
  ctx: RequestContext,
  authenticator: Authenticator,
  permission: Permission
): Promise<Principal> {
  const principal = await authenticator.authenticate(ctx.req.headers.authorization)
  // Also for a key without the permission: browser-use.ts looks at the key of every request.
  ctx.state.principal = principal
  if (!principal.permissions.includes(permission)) {
    const message = `must be a key with the permission ${permission}`
    throw new ServiceError('insufficient_scope', { fields: [{ path: 'header Authorization', message }] })
  }
  return principal
}
