/** Names for one request: ours (`X-Request-Id`), and the client's (`X-Correlation-Id`, docs/API.md#headers). */
import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../runtime/errors.js'
import { isUuid } from '../../runtime/uuid.js'
import type { RequestMiddleware } from '../context.js'

/** The outermost middleware: begins the request's state and names the request in the answer. */
export function requestId(): RequestMiddleware {
  return (ctx, next) => {
    ctx.state.requestId = randomUUID()
    ctx.state.correlationId = null
    ctx.state.principal = null
    ctx.state.body = undefined
    ctx.state.idempotencyKey = ''
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}

/** Takes over the client's `X-Correlation-Id` and echoes it. Anything but one UUID is 400. */
export function correlationId(): RequestMiddleware {
  return (ctx, next) => {
    const given = ctx.get('X-Correlation-Id')
    if (given === '') return next()
    if (!isUuid(given)) {
      throw new ServiceError('invalid_request', {
        fields: [{ path: 'header X-Correlation-Id', message: 'must be one UUID, or absent' }]
      })
    }
    ctx.state.correlationId = given
    ctx.set('X-Correlation-Id', given)
    return next()
  }
}
