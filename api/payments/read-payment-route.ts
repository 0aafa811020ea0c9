/** GET /v1/payments/{id} (docs/API.md#get-v1paymentsid): the source of truth. */
import { ServiceError } from '../../runtime/errors.js'
import { principalOf } from '../http/context.js'
import type { MerchantRoute } from '../http/route.js'
import { presentPayment } from './payment-presenter.js'
import { paymentIdInPath } from './request-scope.js'

export const readPaymentRoute: MerchantRoute = {
  method: 'GET',
  path: '/v1/payments/:id',
  permission: 'payments:read',
  needsIdempotencyKey: false,
  body: null,
  query: null,
  answer: deps => async ctx => {
    const payment = await deps.payments.read(principalOf(ctx).merchantId, paymentIdInPath(ctx))
    if (payment === null) throw new ServiceError('not_found')
    return { status: 200, body: presentPayment(payment.terms, payment.progress, deps.config.environment) }
  }
}
