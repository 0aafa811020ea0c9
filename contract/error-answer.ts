/** The answer to a request that failed (docs/API.md, Errors): its schema, and how it is made. */
import { declineReasons } from '../machines/declines.js'
import { answerObject, component, flag, listOf, oneOfKnown, type Shown, text, uuid } from './answer-fields.js'
import { type ErrorCode, errorCatalogue, type FieldProblem, publicCodeOf, publicErrorCodes } from './errors.js'
import type { Schema } from './schema.js'

export const fieldProblemSchema = component(
  'FieldProblem',
  answerObject({
    path: text('a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'),
    message: text('the rule that is broken')
  })
)

const fields: Schema<readonly FieldProblem[]> = {
  ...listOf(fieldProblemSchema.reference),
  description:
    'with `invalid_request`, `insufficient_scope` and some `invalid_card`: every broken rule. `path` is a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'
}

export const errorDetailSchema = component(
  'ErrorDetail',
  answerObject(
    {
      code: oneOfKnown('one of [ERRORS.md](ERRORS.md); decide by this', publicErrorCodes),
      message: text('what happened and what to do: for your logs, not for buyers'),
      retryable: flag(
        'whether the same request can succeed later without a change: under a new `Idempotency-Key` where there is a `payment_id`, because the old one keeps this answer (except `idempotency_in_progress`); else under the same one'
      ),
      correlation_id: uuid('your `X-Correlation-Id`, when you sent one'),
      request_id: uuid('our id of the request, as in `X-Request-Id`: tell it to the operator'),
      decline_reason: oneOfKnown(
        'with `card_declined` and `card_expired` of a create: why the issuer declined, as `provider.decline_reason` of the payment',
        declineReasons
      ),
      may_retry: flag('with `decline_reason`: whether the brand allows this card to be tried again, in a new payment'),
      rejection_code: text(
        'with `provider_rejected` of a create: the code of the network, as `provider.rejection_code` of the payment; `fields` names the field of a known one'
      ),
      payment_id: uuid(
        'the payment, when the request has made or found one; with `idempotency_conflict` that of the first request'
      ),
      fields
    },
    ['correlation_id', 'decline_reason', 'may_retry', 'rejection_code', 'payment_id', 'fields']
  )
)

export const errorSchema = component('Error', answerObject({ error: errorDetailSchema.reference }))

/** What an error may say beyond its row of the catalogue; a `message` takes the place of that of the row. */
export type MoreOfError = Partial<
  Pick<Shown<typeof errorDetailSchema>, 'message' | 'decline_reason' | 'may_retry' | 'rejection_code'>
>

interface Failure {
  readonly code: ErrorCode
  readonly more: MoreOfError
  readonly paymentId: string | undefined
  readonly fields: readonly FieldProblem[] | undefined
}

export function presentError(
  { code, more, paymentId, fields }: Failure,
  { requestId, correlationId }: { readonly requestId: string; readonly correlationId: string | null }
): Shown<typeof errorSchema> {
  const { message, retryable } = errorCatalogue[code]
  return {
    error: {
      code: publicCodeOf(code),
      message,
      retryable,
      ...more,
      ...(correlationId === null ? {} : { correlation_id: correlationId }),
      request_id: requestId,
      ...(paymentId === undefined ? {} : { payment_id: paymentId }),
      ...(fields === undefined ? {} : { fields })
    }
  }
}
