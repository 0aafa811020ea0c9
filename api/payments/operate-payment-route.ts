/**
 * POST /v1/payments/{id}/capture (docs/API.md#post-v1paymentsidcapture): captures a hold, in part or as a whole.
 * POST /v1/payments/{id}/cancel (docs/API.md#post-v1paymentsidcancel): voids a hold, or refunds in part or as a whole.
 */
import { operatePaymentBodies } from '../../contract/operate-payment.js'
import { routes } from '../../contract/routes.js'
import { type MerchantRoute, merchantRoute } from '../http/route.js'
import { parserOf } from '../http/schema.js'
import { paymentIdInPath, preferredWaitS, scopeOf } from './request-scope.js'
import { answerTo } from './submission-presenter.js'
import { submitUnlessRefused } from './submit-unless-refused.js'

const parse = parserOf(operatePaymentBodies.capture, 'body')

export function operatePaymentRoute(operation: 'capture' | 'cancel'): MerchantRoute {
  return merchantRoute(routes[`${operation}Payment`], deps => async ctx => {
    const { environment, resultWaitMs } = deps.config
    const paymentId = paymentIdInPath(ctx)
    const submission = await submitUnlessRefused(deps, {
      paymentId,
      parse: () => parsePartialAmount(ctx.state.body),
      scope: () => scopeOf(ctx, `POST /v1/payments/${paymentId}/${operation}`, resultWaitMs),
      submit: (scope, amountCents) => deps.payments[operation](scope, paymentId, amountCents)
    })
    return answerTo(submission, environment, 200, preferredWaitS(ctx))
  })
}

/** The amount in cents; null (the whole amount) when there is no body, or nothing in it. */
function parsePartialAmount(body: unknown): number | null {
  return body === undefined ? null : (parse(body).amount_cents ?? null)
}
