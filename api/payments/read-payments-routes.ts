/**
 * GET /v1/payments/{id} (docs/API.md#get-v1paymentsid): the source of truth.
 * GET /v1/payments (docs/API.md#get-v1payments): newest first, a page at a time.
 */
import { presentStored } from '../../contract/payment.js'
import { routes } from '../../contract/routes.js'
import { clientSignal } from '../http/client-signal.js'
import { principalOf } from '../http/context.js'
import { merchantRoute } from '../http/route.js'
import { ServiceError } from '../http/service-error.js'
import { encodeCursor } from './cursor.js'
import { parseListPayments } from './list-payments-query.js'
import { paymentIdInPath } from './request-scope.js'

export const readPaymentRoute = merchantRoute(routes.readPayment, deps => async ctx => {
  const payment = await deps.payments.read(principalOf(ctx).merchantId, paymentIdInPath(ctx))
  if (payment === null) throw new ServiceError('not_found')
  return { status: 200, body: presentStored(payment, deps.config.environment) }
})

export const listPaymentsRoute = merchantRoute(routes.listPayments, deps => async ctx => {
  const { merchantId } = principalOf(ctx)
  const { filter, parameters } = parseListPayments(ctx.querystring, merchantId)
  const page = await deps.payments.list(merchantId, filter, clientSignal(ctx))
  const body = {
    items: page.payments.map(payment => presentStored(payment, deps.config.environment)),
    next_cursor: page.nextAfterId === null ? null : encodeCursor(merchantId, { afterId: page.nextAfterId, parameters })
  }
  return { status: 200, body }
})
