/**
 * The `Idempotency-Key` of every payment POST: 1 to 255 printable ASCII characters, and no card number (decision 22),
 * because the key is stored with the operation and shown in answers and webhooks.
 */
import { isCardNumber } from '../../../machines/card-data-in-text.js'
import { ServiceError } from '../../../runtime/errors.js'
import type { RequestContext } from '../context.js'

const NAME = 'idempotency-key'
const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** Leaves the key in `ctx.state.idempotencyKey`. Throws `missing_idempotency_key`, or `invalid_request`. */
export function readIdempotencyKey(ctx: RequestContext): void {
  const key = ctx.get(NAME)
  if (key === '') throw new ServiceError('missing_idempotency_key')
  if (!PRINTABLE.test(key) || isSentTwice(ctx.req.rawHeaders)) {
    throw new ServiceError('invalid_request', {
      fields: [
        { path: 'header Idempotency-Key', message: 'must be sent once, with 1 to 255 printable ASCII characters' }
      ]
    })
  }
  if (isCardNumber(key)) {
    throw new ServiceError('invalid_request', {
      fields: [{ path: 'header Idempotency-Key', message: 'must be more than a card number; put a letter before it' }]
    })
  }
  ctx.state.idempotencyKey = key
}

/** Two headers of one name arrive as one value with a comma, which a key may have. `headers`: names and values in turn. */
function isSentTwice(headers: readonly string[]): boolean {
  const isName = (text: string, at: number): boolean => at % 2 === 0 && text.toLowerCase() === NAME
  return headers.filter(isName).length > 1
}
