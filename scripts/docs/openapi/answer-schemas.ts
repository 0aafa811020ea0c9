/** The schemas of answers, from the words of `scripts/docs/api/words.ts`. */
import { CURRENCY } from '../../../api/http/schema-fields.js'
import { declineReasons } from '../../../machines/declines.js'
import { type FailureCode, operationKinds, operationStates, paymentStatuses } from '../../../machines/model.js'
import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../redis/webhooks/webhook-event.js'
import { loggedStates } from '../../../redis/webhooks/webhook-log.js'
import { type ErrorCode, type ErrorSpec, errorCatalogue } from '../../../runtime/errors.js'
import { publicErrorCodes } from '../api/error-table.js'
import { type AnswerType, type AnswerWords, answerWords, tokenAnswer } from '../api/words.js'
import { eventSchema } from './webhook-schemas.js'

type Json = Readonly<Record<string, unknown>>

const time = { type: 'string', format: 'date-time' }

const schemaOfType: Readonly<Record<AnswerType, Json>> = {
  string: { type: 'string' },
  'string, UUID': { type: 'string', format: 'uuid' },
  'string or null': { type: ['string', 'null'] },
  integer: { type: 'integer' },
  'integer or null': { type: ['integer', 'null'] },
  boolean: { type: 'boolean' },
  'boolean or null': { type: ['boolean', 'null'] },
  timestamp: time,
  'timestamp or null': { ...time, type: ['string', 'null'] },
  object: {
    type: 'object',
    additionalProperties: { anyOf: ['string', 'number', 'boolean', 'null'].map(type => ({ type })) }
  },
  'array of strings': { type: 'array', items: { type: 'string' } },
  'array of `{path, message}`': {
    type: 'array',
    items: {
      type: 'object',
      required: ['path', 'message'],
      properties: { path: { type: 'string' }, message: { type: 'string' } }
    }
  }
}

/** Rows of the catalogue with which a payment may fail: all of them, else it does not compile. */
const failures: { readonly [Code in FailureCode | 'cvv_lost']: Code } = {
  card_declined: 'card_declined',
  card_expired: 'card_expired',
  invalid_token: 'invalid_token',
  cvv_lost: 'cvv_lost',
  card_unreadable: 'card_unreadable',
  provider_rejected: 'provider_rejected',
  network_unavailable: 'network_unavailable',
  authorization_overdue: 'authorization_overdue',
  capture_rejected: 'capture_rejected',
  capture_not_sent: 'capture_not_sent',
  unknown_card: 'unknown_card',
  refund_reversed: 'refund_reversed'
}

/** What is known of a field beyond its type. */
const details: Readonly<Record<string, Json>> = {
  'Payment status': { enum: paymentStatuses, description: 'docs/PAYMENTS.md says what each status means' },
  'Payment capture_mode': { enum: ['auto', 'manual'] },
  'Payment currency': { enum: [CURRENCY] },
  'Payment provider.decline_reason': { enum: [...declineReasons, null] },
  'Payment operation.kind': { enum: operationKinds },
  'Payment operation.state': { enum: operationStates },
  'Payment error.code': { enum: publicCodesOf(Object.values(failures)) },
  'Error error.code': { enum: publicErrorCodes },
  'Payment refunds[].state': { enum: operationStates },
  'Payment refunds[].error.code': { enum: publicErrorCodes },
  'WebhookEvent event_type': { enum: [EVENT_TYPE, TEST_EVENT_TYPE] },
  'WebhookEvent status': { enum: paymentStatuses },
  'WebhookEvent state': { enum: loggedStates },
  'Card status': { enum: ['active'] },
  'Capabilities key_environment': { enum: ['test', 'live'] },
  'Capabilities preauth_ttl_days_by_brand': { additionalProperties: { type: 'integer' } },
  'Capabilities rate_limit': { type: ['object', 'null'] }
}

/** Fields that are absent while there is nothing to say; all others are always there. */
const optional = [
  'Payment error',
  'Payment refunds[].error',
  'Error error.correlation_id',
  'Error error.payment_id',
  'Error error.fields'
]

/** Objects within a payment that have a name of their own, because events have them too. */
const named: Readonly<Record<string, string>> = { 'refunds[].': 'Refund', 'operation.': 'Operation' }

/** By the name that a generated client gives to the type. */
export function answerSchemas(): Record<string, Json> {
  const { payment, card, capabilities, error } = answerWords
  const endpoint = answerWords['webhook endpoint']
  const { secret: _, ...readable } = endpoint
  const parts = Object.entries(named).map(([prefix, name]) => {
    const rows = Object.entries(payment).filter(([path]) => path.startsWith(prefix))
    return [name, objectOf('Payment', prefix, rows)]
  })
  return {
    ...Object.fromEntries(parts),
    Payment: schemaOf('Payment', payment),
    PaymentPage: {
      type: 'object',
      required: ['items', 'next_cursor'],
      properties: {
        items: { type: 'array', items: { $ref: '#/components/schemas/Payment' } },
        next_cursor: { type: ['string', 'null'], description: 'Where the next page begins; null: this is the last one' }
      }
    },
    Card: schemaOf('Card', card),
    NewWebhookEndpoint: schemaOf('NewWebhookEndpoint', endpoint),
    WebhookEndpoint: schemaOf('WebhookEndpoint', readable),
    WebhookEvent: schemaOf('WebhookEvent', answerWords['webhook event']),
    WebhookEventList: {
      type: 'object',
      required: ['items'],
      properties: { items: { type: 'array', items: { $ref: '#/components/schemas/WebhookEvent' } } }
    },
    Capabilities: schemaOf('Capabilities', capabilities),
    Token: schemaOf('Token', tokenAnswer),
    Error: schemaOf('Error', error),
    PaymentStatusChanged: eventSchema(schemaOf('Payment', payment))
  }
}

/** The body of an error that has one of these codes. */
export function errorSchema(codes: readonly ErrorCode[]): Json {
  return schemaOf('Error', answerWords.error, { 'Error error.code': { enum: publicCodesOf(codes) } })
}

/** The codes that merchants see of these rows, each one once. */
export function publicCodesOf(rows: readonly ErrorCode[]): string[] {
  const codes = rows.map(row => {
    const { publicCode = row }: ErrorSpec = errorCatalogue[row]
    return publicCode
  })
  return [...new Set(codes)]
}

function schemaOf(
  name: string,
  words: AnswerWords,
  more: Readonly<Record<string, Json>> = {}
): Json & { properties: Json } {
  return objectOf(name, '', Object.entries(words), { ...details, ...more })
}

/** The object at `prefix`, whose fields are named by their whole paths. `name[]` is a list of objects. */
function objectOf(
  name: string,
  prefix: string,
  rows: readonly (readonly [string, AnswerWords[string]])[],
  known = details
): Json & { properties: Json } {
  const members = new Map<string, (readonly [string, AnswerWords[string]])[]>()
  for (const row of rows) {
    const [member = ''] = row[0].slice(prefix.length).split('.')
    members.set(member, [...(members.get(member) ?? []), row])
  }
  const properties = [...members].map(([member, below]) => {
    const path = `${prefix}${member}`
    const [first] = below
    const isField = first !== undefined && first[0] === path
    const part = named[`${path}.`]
    const object = (): Json =>
      part ? { $ref: `#/components/schemas/${part}` } : objectOf(name, `${path}.`, below, known)
    const schema = isField ? fieldOf(first[1]) : object()
    if (member.endsWith('[]')) return [member.slice(0, -2), { type: 'array', items: schema }] as const
    return [member, { ...schema, ...known[`${name} ${path}`] }] as const
  })
  const required = properties
    .map(([member]) => member)
    .filter(member => !optional.includes(`${name} ${prefix}${member}`))
  return { type: 'object', required, properties: Object.fromEntries(properties) }
}

function fieldOf([type, meaning]: AnswerWords[string]): Json {
  return { ...schemaOfType[type], description: withoutLinks(meaning) }
}

/** Links lead to other pages of docs/, which a tool does not have. */
function withoutLinks(meaning: string): string {
  return meaning.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}
