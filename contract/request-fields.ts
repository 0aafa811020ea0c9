/** Fields that several requests share, and builders of common ones. Limits: docs/API.md#post-v1payments. */
import type { Schema } from './schema.js'

/**
 * Cents. The contract names no upper bound; this one (almost ten billion reais) keeps every sum exact and fits the
 * card network's field of 15 digits.
 */
const AMOUNT_CENTS_MAX = 999_999_999_999

export const INSTALLMENTS_MAX = 18

/** The only currency (docs/API.md#post-v1payments). */
export const CURRENCY = 'BRL'

export const amountCents: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: AMOUNT_CENTS_MAX,
  rule: `must be a whole number of cents from 1 to ${AMOUNT_CENTS_MAX}`
}

/** Text that must not be blank; `max` counts characters (code points), not bytes. */
export function filled(max: number): Schema {
  return {
    type: 'string',
    maxLength: max,
    format: 'filled',
    noCard: 'inside',
    rule: `must be text of 1 to ${max} characters, not blank, without control characters or a card number`
  }
}

/** Text that may be empty. */
export function text(max: number): Schema {
  return {
    type: 'string',
    maxLength: max,
    format: 'text',
    noCard: 'inside',
    rule: `must be text of at most ${max} characters without control characters or a card number`
  }
}

/** Order ids of merchants may be long numbers: refused only when it is just a card number (decision 22). */
export const externalReference: Schema = {
  ...filled(64),
  noCard: 'alone',
  rule: 'must be text of 1 to 64 characters, not blank, without control characters, and not just a card number'
}

/** `count` is how many digits, such as `8` or `10,11` (as in a regular expression); `what` completes the sentence. */
export function digits(count: string, what: string): Schema {
  return { type: 'string', pattern: `^[0-9]{${count}}$`, rule: `must be ${what}, digits only` }
}

/** A field that may be null, which is the same as leaving it out. Answers say null for what there is not. */
export function orNull(field: Schema): Schema {
  const { const: only, enum: known = only === undefined ? undefined : [only], ...rest } = field
  return {
    ...rest,
    type: [field['type'] ?? 'string', 'null'],
    ...(Array.isArray(known) && { enum: [...known, null] }),
    rule: `${field['rule']}, or null`
  }
}

/** An id that this service generated (`token_id`, `card_id`). */
export function givenId(what: string): Schema {
  return { type: 'string', pattern: '^[0-9A-Za-z_-]{1,64}$', rule: `must be ${what}` }
}

/** `limit` of a list. */
export const listLimit = {
  type: 'string',
  pattern: '^([1-9][0-9]?|100)$',
  default: '20',
  rule: 'must be a whole number from 1 to 100'
} as const

/** A field with its description, for docs/API.md and the OpenAPI document. */
export function about(description: string, field: Schema): Schema {
  return { ...field, description }
}

/** An object without other fields than these. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  rule: string
): Schema {
  return { type: 'object', additionalProperties: false, required, properties, rule }
}
