/** POST /v1/payments (docs/API.md#post-v1payments). */
import { routes } from '../../contract/routes.js'
import { merchantRoute } from '../http/route.js'
import { createPaymentParser } from './create-payment-request.js'
import { preferredWaitS, scopeOf } from './request-scope.js'
import { answerTo, whyFailed } from './submission-presenter.js'
import { submitUnlessRefused } from './submit-unless-refused.js'

export const createPaymentRoute = merchantRoute(routes.createPayment, deps => {
  const { environment, resultWaitMs, cnpjWithLetters } = deps.config
  const parse = createPaymentParser(cnpjWithLetters === 'yes')
  return async ctx => {
    const submission = await submitUnlessRefused(deps, {
      paymentId: null,
      parse: () => parse(ctx.state.body),
      scope: () => scopeOf(ctx, 'POST /v1/payments', resultWaitMs),
      submit: (scope, request) => deps.payments.create(scope, request)
    })
    const details = await whyFailed(deps.payments, submission, environment)
    return answerTo(submission, environment, 201, preferredWaitS(ctx), details)
  }
})
