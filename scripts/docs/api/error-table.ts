/** Which errors a route may answer: what follows from the facts of a route, and what its work adds. */
import type { MerchantRoute } from '../../../api/http/route.js'
import { type ErrorCode, errorCatalogue, publicCodesOf } from '../../../contract/errors.js'
import { shownFailures } from '../../../machines/model.js'

/** What may come before the work of any route has begun. */
const OF_EVERY_ROUTE: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'insufficient_scope',
  'merchant_disabled',
  'request_timeout',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'service_unavailable'
]
const OF_BODIES: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type']
const OF_IDEMPOTENCY: readonly ErrorCode[] = ['missing_idempotency_key', 'idempotency_conflict']
const OF_OPERATIONS: readonly ErrorCode[] = [
  'not_found',
  'invalid_state',
  'operation_in_progress',
  'provider_rejected',
  'network_unavailable'
]

const OF_TEST_ROUTES: readonly ErrorCode[] = ['not_found', 'invalid_state', 'operation_in_progress']

const ofWork: Readonly<Record<string, readonly ErrorCode[]>> = {
  'POST /v1/payments': ['idempotency_in_progress', ...shownFailures.filter(code => code !== 'refund_reversed')],
  'POST /v1/payments/{id}/capture': [...OF_OPERATIONS, 'preauth_expired', 'amount_exceeds_authorized'],
  'POST /v1/payments/{id}/cancel': [...OF_OPERATIONS, 'partial_void', 'amount_exceeds_refundable', 'too_many_refunds'],
  'GET /v1/payments/{id}': ['not_found'],
  'POST /v1/cards': ['invalid_token'],
  'GET /v1/cards/{id}': ['not_found'],
  'DELETE /v1/cards/{id}': ['not_found'],
  'GET /v1/webhook-endpoint': ['webhook_endpoint_missing'],
  'POST /v1/test/payments/{id}/chargeback': [...OF_TEST_ROUTES, 'simulator_missing', 'network_unavailable'],
  'POST /v1/test/payments/{id}/expire': OF_TEST_ROUTES,
  'POST /v1/test/webhook-events': ['not_found', 'webhook_endpoint_missing'],
  'GET /v1/test/webhook-events': ['not_found'],
  'POST /v1/test/webhook-events/{id}/replay': ['not_found', 'too_many_events']
}

/** The rows of the catalogue that a route may answer. `name` as docs/API.md has it: `POST /v1/payments/{id}/capture`. */
export function documentedCodes(name: string, { body, needsIdempotencyKey }: MerchantRoute): readonly ErrorCode[] {
  return [
    ...OF_EVERY_ROUTE,
    'overloaded',
    ...(body === null ? [] : OF_BODIES),
    ...(needsIdempotencyKey ? OF_IDEMPOTENCY : []),
    ...(ofWork[name] ?? [])
  ]
}

/** What routes answer that need neither a payment nor a token: errors that no route has for itself. */
export const STANDARD_CODES: readonly ErrorCode[] = [...OF_EVERY_ROUTE, 'overloaded', ...OF_BODIES, 'not_found']

/** Those of POST /v1/tokens, which is a route of the process `tokens`. */
export const TOKEN_CODES: readonly ErrorCode[] = [...OF_EVERY_ROUTE, ...OF_BODIES, 'invalid_card']

/** Errors as a sentence, in the order of their statuses. */
export function errorsText(codes: readonly ErrorCode[]): string {
  const statuses = [...new Set(codes.map(code => errorCatalogue[code].status))].sort((one, other) => one - other)
  const groups = statuses.map(status => {
    const names = publicCodesOf(codes.filter(code => errorCatalogue[code].status === status))
    return `${status} ${names.map(name => `\`${name}\``).join(', ')}`
  })
  return `Errors: ${groups.join(' · ')}.`
}
