/** The webhook endpoint of a merchant (docs/API.md#put-v1webhook-endpoint): what registers it, its schemas, and how it is shown. */
import { answerObject, component, type Shown, text, time } from './answer-fields.js'
import { timestamp } from './payment-parts.js'
import { orNull, requestObject, trueOrFalse } from './request-fields.js'
import type { Schema } from './schema.js'

const URL_LENGTH_MAX = 2_048
/** The longest names that a resolver takes (RFC 1035, without the dot of the root). */
export const HOST_LENGTH_MAX = 253
export const LABEL_LENGTH_MAX = 63
export const URL_RULE = `must be an https URL of at most ${URL_LENGTH_MAX} characters, without user name, password, fragment, white space or backslash, whose host name has at most ${HOST_LENGTH_MAX} characters and 1 to ${LABEL_LENGTH_MAX} between its dots`

export const IS_ROTATION_DEFAULT = false

const newUrl: Schema<string> = {
  description: 'where webhooks are posted',
  type: 'string',
  maxLength: URL_LENGTH_MAX,
  format: 'filled',
  // Said to tools only: the code that checks it has a sentence for each of its parts.
  documentedPattern: '^[hH][tT]{2}[pP][sS]://[^/?@#\\s\\\\\\x00-\\x1f\\x7f]+([/?][^#\\s\\\\\\x00-\\x1f\\x7f]*)?$',
  rule: URL_RULE
}

/** Body of PUT /v1/webhook-endpoint. */
export const webhookEndpointBody = requestObject(
  {
    url: newUrl,
    rotate_secret: orNull(
      trueOrFalse('true: a new signing secret, although the URL stays the same', IS_ROTATION_DEFAULT)
    )
  },
  ['url'],
  'must be a JSON object'
)

const SIGNATURE_HEADER = 'X-Service-Signature'

const url = text('where webhooks are posted')
const about = {
  signature_header: text('the header that carries the signature'),
  updated_at: time('last change of the URL or the secret')
}

export const registeredWebhookEndpointSchema = component(
  'RegisteredWebhookEndpoint',
  answerObject({ url, secret: text('the signing secret, `whsec_…`; answered by PUT, never by GET'), ...about })
)

export const webhookEndpointSchema = component('WebhookEndpoint', answerObject({ url, ...about }))

export interface ShownEndpoint {
  readonly url: string
  readonly updatedAtMs: number
}

export interface NewEndpoint extends ShownEndpoint {
  readonly secret: string
}

/** The answer to a registration, the secret included. */
export function presentNewEndpoint(endpoint: NewEndpoint): Shown<typeof registeredWebhookEndpointSchema> {
  return { url: endpoint.url, secret: endpoint.secret, ...signatureAndTime(endpoint) }
}

/** The answer to a read, which never shows the secret. */
export function presentEndpoint(endpoint: ShownEndpoint): Shown<typeof webhookEndpointSchema> {
  return { url: endpoint.url, ...signatureAndTime(endpoint) }
}

function signatureAndTime({ updatedAtMs }: ShownEndpoint): { signature_header: string; updated_at: string } {
  return { signature_header: SIGNATURE_HEADER, updated_at: timestamp(updatedAtMs) }
}
