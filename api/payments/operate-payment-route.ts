/**
 * POST /v1/payments/{id}/capture (docs/API.md#post-v1paymentsidcapture): captures a hold, in part or as a whole.
 * POST /v1/payments/{id}/cancel (docs/API.md#post-v1paymentsidcancel): voids a hold, or refunds in part or as a whole.
 */

import { about, amountCents as amountField, object } from '../../contract/request-fields.js'
import { type MerchantRoute, merchantRoute } from '../http/route.js'
import { parserOf, type Schema } from '../http/schema.js'
import { paymentIdInPath, preferredWaitS, scopeOf } from './request-scope.js'
import { answerTo } from './submission-presenter.js'

/** The rules of both bodies are the same; their descriptions differ. */
const bodies = {
  capture: bodyOf('what to capture; absent: the whole authorised amount'),
  cancel: bodyOf('what to refund; absent: everything that is left. A pre-authorisation is cancelled as a whole only')
}

function bodyOf(amount: string): Schema {
  return object({ amount_cents: about(amount, amountField) }, [], 'must be a JSON object, or no body at all')
}

const parse = parserOf<{ amount_cents?: number }>(bodies.capture, 'body')

export function operatePaymentRoute(operation: 'capture' | 'cancel'): MerchantRoute {
  return merchantRoute({
    method: 'POST',
    path: `/v1/payments/:id/${operation}`,
    permission: 'payments:write',
    needsIdempotencyKey: true,
    body: { schema: bodies[operation], isOptional: true },
    answer: deps => async ctx => {
      const { environment, resultWaitMs } = deps.config
      const paymentId = paymentIdInPath(ctx)
      const amountCents = parsePartialAmount(ctx.state.body)
      const scope = scopeOf(ctx, `POST /v1/payments/${paymentId}/${operation}`, resultWaitMs)
      return answerTo(
        await deps.payments[operation](scope, paymentId, amountCents),
        environment,
        200,
        preferredWaitS(ctx)
      )
    }
  })
}

/** The amount in cents; null (the whole amount) when there is no body, or nothing in it. */
function parsePartialAmount(body: unknown): number | null {
  return body === undefined ? null : (parse(body).amount_cents ?? null)
}
