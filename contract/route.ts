/** What merchants may know of a route. */
import type { Component, Shown } from './answer-fields.js'
import type { ErrorCode } from './errors.js'
import type { Schema } from './schema.js'

export interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Such as `/v1/payments/{id}/capture`. */
  readonly path: string
  readonly permission: string
  /** Absent: a body is not read. */
  readonly body?: { readonly schema: Schema; readonly isOptional: boolean }
  /** Absent: there are no parameters, and a request with one is refused. */
  readonly query?: Schema
  readonly tag: 'Payments' | 'Cards' | 'Webhooks' | 'Service' | 'Test' | 'Tokens'
  readonly summary: string
  readonly text: string
  /** An Idempotency-Key for examples. Absent: the route takes none. */
  readonly exampleKey?: string
  readonly answers: readonly DocumentedAnswer[]
  /** Rows of the catalogue beside those that follow from the rest. */
  readonly errors: readonly ErrorCode[]
}

interface DocumentedAnswer {
  readonly status: 200 | 201 | 202 | 204
  /** Absent: the answer has no body. */
  readonly schema?: Component
  readonly means: string
}

/** An answer of success that a route may give. */
export type AnswerOf<Facts extends RouteFacts> = OneAnswer<Facts['answers'][number]>

type OneAnswer<A> = A extends { readonly status: infer Status; readonly schema: infer C }
  ? { readonly status: Status; readonly body: Shown<C> }
  : A extends { readonly status: infer Status }
    ? { readonly status: Status }
    : never

/** `POST /v1/payments/{id}/capture`. */
export function nameOf({ method, path }: Pick<RouteFacts, 'method' | 'path'>): string {
  return `${method} ${path}`
}

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

/** The rows of the catalogue that a route may answer. */
export function errorsOf({ tag, body, exampleKey, errors }: RouteFacts): readonly ErrorCode[] {
  return [
    ...OF_EVERY_ROUTE,
    ...(tag === 'Tokens' ? [] : (['overloaded'] as const)),
    ...(body === undefined ? [] : OF_BODIES),
    ...(exampleKey === undefined ? [] : OF_IDEMPOTENCY),
    ...errors
  ]
}

/** What routes answer that need neither a payment nor a token: errors that no route has for itself. */
export const STANDARD_CODES: readonly ErrorCode[] = [...OF_EVERY_ROUTE, 'overloaded', ...OF_BODIES, 'not_found']
