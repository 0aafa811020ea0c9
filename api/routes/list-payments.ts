/** GET /v1/payments (interface 4.5): newest first, a page at a time. */
import { principalOf } from '../context.js'
import { encodeCursor } from '../cursor.js'
import { presentPayment } from '../presenters/payment.js'
import { guards, type Route, type RouteDeps } from '../route.js'
import { parseListPayments } from '../schemas/list-payments.js'

export function listPaymentsRoute(deps: RouteDeps): Route {
  return {
    method: 'GET',
    path: '/v1/payments',
    handlers: [
      ...guards(deps, 'payments:read'),
      async ctx => {
        const { merchantId } = principalOf(ctx)
        const page = await deps.payments.list(merchantId, parseListPayments(ctx.querystring, merchantId))
        ctx.body = {
          items: page.payments.map(payment => presentPayment(payment.terms, payment.progress)),
          next_cursor: page.nextAfterId === null ? null : encodeCursor(merchantId, page.nextAfterId)
        }
      }
    ]
  }
}
