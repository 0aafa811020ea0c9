/** What the service can do (docs/API.md#get-v1capabilities). api/payments/capabilities-route.ts makes it of the settings. */
import { answerObject, component, count, flag, listOf, type ObjectSchema, oneOfKnown, text } from './answer-fields.js'
import type { Schema, Static } from './schema.js'

const limit = answerObject({
  requests_per_second: count('`rate_limit` is null when there is none: requests per second and key'),
  burst: count('requests that a key may send at once after a pause')
})

const limitOrNull: ObjectSchema<Static<typeof limit> | null> = { ...limit, type: ['object', 'null'] }

export const rateLimitSchema = component('RateLimit', limitOrNull)

export const tokenizationSchema = component(
  'Tokenization',
  answerObject({
    available: flag('whether cards can be typed'),
    sandbox: flag('true in the test environment'),
    url: text('where the hosted fields and POST /v1/tokens are')
  })
)

const currencies: Schema<readonly string[]> = {
  ...listOf({ type: 'string' }),
  description: 'what `currency` may be'
}

const daysByBrand: Schema<Readonly<Record<string, number>>> = {
  type: 'object',
  additionalProperties: { type: 'integer', format: 'int32' },
  description:
    'brands whose pre-authorisations have another number of days, such as `{"visa": 5}`; `{}` when there is none'
}

export const capabilitiesSchema = component(
  'Capabilities',
  answerObject({
    key_environment: oneOfKnown('`test` or `live`', ['test', 'live']),
    currencies,
    max_installments: count('what `installments` may be at most'),
    cnpj_with_letters: flag(
      'whether `customer.document` may be a CNPJ with capital letters, such as `12ABC34501DE35`; false: digits only'
    ),
    authorize_within_seconds: count(
      'age at which a new payment that the service could not begin fails with `authorization_overdue`: nothing was sent'
    ),
    preauth_ttl_days: count('days in which a pre-authorisation can be captured'),
    preauth_ttl_days_by_brand: daysByBrand,
    idempotency_retention_days: count('days for which the key of a create, capture or cancel is remembered'),
    rate_limit: rateLimitSchema.reference,
    tokenization: tokenizationSchema.reference
  })
)
