/** POST /v1/payments (docs/API.md#post-v1payments). */
import { merchantRoute } from '../http/route.js'
import { createPaymentBody, createPaymentParser } from './create-payment-schema.js'
import { preferredWaitS, scopeOf } from './request-scope.js'
import { answerTo } from './submission-presenter.js'

export const createPaymentRoute = merchantRoute({
  method: 'POST',
  path: '/v1/payments',
  permission: 'payments:write',
  needsIdempotencyKey: true,
  body: { schema: createPaymentBody, isOptional: false },
  answer(deps) {
    const parse = createPaymentParser(deps.config.cnpjWithLetters === 'yes')
    return async ctx => {
      const request = parse(ctx.state.body)
      const scope = scopeOf(ctx, 'POST /v1/payments', deps.config.resultWaitMs)
      return answerTo(await deps.payments.create(scope, request), deps.config.environment, 201, preferredWaitS(ctx))
    }
  }
})
