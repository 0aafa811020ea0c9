/** Headers of requests and answers; docs/API.md has the same tables in prose. */
import { KNOWN_VALUES } from '../../../contract/answer-fields.js'
import type { Json } from '../../../contract/schema.js'
import { EXAMPLE_CARD_ID, EXAMPLE_EVENT_ID, EXAMPLE_PAYMENT_ID } from './answer-examples.js'

const uuid = { type: 'string', format: 'uuid' }
// With the pattern, tools that make up values make UUIDs.
const sentUuid = { ...uuid, pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }
const text = { type: 'string' }
const seconds = { type: 'integer', format: 'int32', minimum: 0 }

export const parameterComponents: Readonly<Record<string, Json>> = {
  PaymentId: idInPath('Id of the payment', sentUuid, EXAMPLE_PAYMENT_ID),
  EventId: idInPath('Id of the webhook event', sentUuid, EXAMPLE_EVENT_ID),
  CardId: idInPath('Id of the stored card', text, EXAMPLE_CARD_ID),
  CorrelationId: {
    name: 'X-Correlation-Id',
    in: 'header',
    description: 'A UUID of yours; it comes back in the answer and in errors',
    schema: sentUuid,
    example: '0193c1a5-7c2e-4f5a-8a3b-1d2e3f4a5b6c'
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`wait=N`: wait 0 to 30 s for the result (8 s without it); shown in `Preference-Applied`',
    schema: text,
    example: 'wait=10'
  }
}

export const headerComponents: Readonly<Record<string, Json>> = {
  'X-Request-Id': { description: 'Our id of the request: tell it to the operator', required: true, schema: uuid },
  'X-Correlation-Id': { description: 'Yours, when you sent one', schema: uuid },
  'RateLimit-Policy': { description: 'The limit of the key: `q` requests in `w` seconds', schema: text },
  RateLimit: { description: 'What is left of the limit (`r`), and when it is full again (`t` s)', schema: text },
  'Retry-After': { description: 'Seconds to wait', schema: seconds },
  Location: { description: 'Path of the payment', schema: { type: 'string', format: 'uri-reference' } },
  'Idempotent-Replayed': {
    description: '`true`: this is the answer to an earlier request with the same key',
    schema: { ...text, [KNOWN_VALUES]: ['true'] }
  },
  'Preference-Applied': { description: 'How long the answer was waited for', schema: text },
  'Server-Timing': { description: 'Where the time went: queue, lock, network, store (ms)', schema: text },
  'X-Service-Warning': {
    description: '`secret-key-in-browser`: a page has used a secret key. Revoke it',
    schema: { ...text, [KNOWN_VALUES]: ['secret-key-in-browser'] }
  },
  'WWW-Authenticate': { description: '`Bearer`', schema: { ...text, [KNOWN_VALUES]: ['Bearer'] } }
}

function idInPath(description: string, schema: Json, example: string): Json {
  return { name: 'id', in: 'path', required: true, description, schema, example }
}

/** Not a component: each route has an example of its own, because a tool sends the examples as they are. */
function idempotencyKey(example: string): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'New for each intention to move money, written down before the request is sent, and the same for each repetition of it. 1 to 255 printable ASCII characters; a key that is a card number and nothing else is refused.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]{1,255}$' },
    example
  }
}

/** What a request of the route brings beside its body and query. `exampleKey`: for a route with an Idempotency-Key. */
export function parametersOf(path: string, exampleKey?: string): Json[] {
  const component = (name: string): Json => ({ $ref: `#/components/parameters/${name}` })
  return [
    ...(path.includes('/{id}') ? [component(idIn(path))] : []),
    ...(exampleKey === undefined ? [] : [idempotencyKey(exampleKey), component('Prefer')]),
    component('CorrelationId')
  ]
}

function idIn(path: string): string {
  if (path.startsWith('/v1/cards')) return 'CardId'
  return path.includes('/webhook-events/') ? 'EventId' : 'PaymentId'
}

const OF_PAYMENTS = ['Location', 'Idempotent-Replayed', 'Preference-Applied', 'Server-Timing']

/** Whether a payment POST with that answer may have found or made a payment. */
export function isAboutPayment(status: number): boolean {
  return status < 300 || [400, 409, 422, 503].includes(status)
}

/** What an answer with that status brings beside its body. `movesMoney`: of a payment POST. */
export function headersOf(status: number, movesMoney: boolean): Json {
  const names = [
    'X-Request-Id',
    'X-Correlation-Id',
    'X-Service-Warning',
    // Until the key is known there is no limit to tell.
    ...(status === 401 ? ['WWW-Authenticate'] : ['RateLimit-Policy', 'RateLimit']),
    ...(movesMoney && isAboutPayment(status) ? OF_PAYMENTS : []),
    ...([202, 409, 429, 503].includes(status) ? ['Retry-After'] : [])
  ]
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}
