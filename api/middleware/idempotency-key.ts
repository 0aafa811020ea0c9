/** The `Idempotency-Key` of every payment POST (interface 5.1; 1 to 255 printable characters, design 9). */
import { ServiceError } from '../../runtime/errors.js'
import type { RequestMiddleware } from '../context.js'

const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** Leaves the key in `ctx.state.idempotencyKey`. Throws `missing_idempotency_key`, or `invalid_request`. */
export function idempotencyKey(): RequestMiddleware {
  return (ctx, next) => {
    const [key = '', ...more] = ctx.req.headersDistinct['idempotency-key'] ?? []
    if (key === '' && more.length === 0) throw new ServiceError('missing_idempotency_key')
    if (!PRINTABLE.test(key) || more.length > 0) {
      throw new ServiceError('invalid_request', {
        fields: [{ path: 'header Idempotency-Key', message: 'must be sent once, with 1 to 255 printable characters' }]
      })
    }
    ctx.state.idempotencyKey = key
    return next()
  }
}
