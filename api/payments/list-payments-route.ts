/** GET /v1/payments (docs/API.md#get-v1payments): newest first, a page at a time. */
import { principalOf } from '../http/context.js'
import type { MerchantRoute } from '../http/route.js'
import { encodeCursor } from './cursor.js'
import { listPaymentsQuery, parseListPayments } from './list-payments-schema.js'
import { presentPayment } from './payment-presenter.js'

export const listPaymentsRoute: MerchantRoute = {
  method: 'GET',
  path: '/v1/payments',
  permission: 'payments:read',
  needsIdempotencyKey: false,
  body: null,
  query: listPaymentsQuery,
  answer: deps => async ctx => {
    const { merchantId } = principalOf(ctx)
    const { filter, parameters } = parseListPayments(ctx.querystring, merchantId)
    const page = await deps.payments.list(merchantId, filter)
    const body = {
      items: page.payments.map(payment => presentPayment(payment.terms, payment.progress, deps.config.environment)),
      next_cursor:
        page.nextAfterId === null ? null : encodeCursor(merchantId, { afterId: page.nextAfterId, parameters })
    }
    return { status: 200, body }
  }
}
