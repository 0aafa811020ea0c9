/** POST /v1/payments (interface 4.1). */
import { idempotencyKey } from '../middleware/idempotency-key.js'
import { jsonBody } from '../middleware/json-body.js'
import { answerSubmission } from '../presenters/submission.js'
import { scopeOf } from '../request-scope.js'
import { guards, type Route, type RouteDeps } from '../route.js'
import { parseCreatePayment } from '../schemas/create-payment.js'

export function createPaymentRoute(deps: RouteDeps): Route {
  return {
    method: 'POST',
    path: '/v1/payments',
    handlers: [
      ...guards(deps, 'payments:write'),
      idempotencyKey(),
      jsonBody({ isOptional: false }),
      async ctx => {
        const request = parseCreatePayment(ctx.state.body)
        const scope = scopeOf(ctx, 'POST /v1/payments', deps.config.resultWaitMs)
        answerSubmission(ctx, await deps.payments.create(scope, request), 201)
      }
    ]
  }
}
