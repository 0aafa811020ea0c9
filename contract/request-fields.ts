/**
 * What the schemas of requests are made of. Every field says all its rules in `rule`, as a sentence that follows its name.
 * Limits: docs/API.md#post-v1payments.
 */
import type { Json, ObjectOf, Properties, Schema } from './schema.js'

/**
 * Cents. The contract names no upper bound; this one (almost ten billion reais) keeps every sum exact and fits the
 * card network's field of 15 digits.
 */
const AMOUNT_CENTS_MAX = 999_999_999_999

export const INSTALLMENTS_MAX = 18

export const amountCents: Schema<number> = {
  type: 'integer',
  minimum: 1,
  maximum: AMOUNT_CENTS_MAX,
  rule: `must be a whole number of cents from 1 to ${AMOUNT_CENTS_MAX}`
}

/** Text that must not be blank; `max` counts characters (code points), not bytes. */
export function filled(max: number): Schema<string> {
  return {
    type: 'string',
    maxLength: max,
    format: 'filled',
    noCard: 'inside',
    rule: `must be text of 1 to ${max} characters, not blank, without control characters or a card number`
  }
}

/** Text that may be empty. */
export function textUpTo(max: number): Schema<string> {
  return {
    type: 'string',
    maxLength: max,
    format: 'text',
    noCard: 'inside',
    rule: `must be text of at most ${max} characters without control characters or a card number`
  }
}

/** Order ids of merchants may be long numbers: refused only when it is just a card number (decision 22). */
export const externalReference: Schema<string> = {
  ...filled(64),
  noCard: 'alone',
  rule: 'must be text of 1 to 64 characters, not blank, without control characters, and not just a card number'
}

/** `count` is how many digits, such as `8` or `10,11` (as in a regular expression); `what` completes the sentence. */
export function digits(count: string, what: string): Schema<string> {
  return { type: 'string', pattern: `^[0-9]{${count}}$`, rule: `must be ${what}, digits only` }
}

/** True or false. */
export function trueOrFalse(description: string, initial: boolean): Schema<boolean> {
  return { description, type: 'boolean', default: initial, rule: 'must be true or false' }
}

/** A field that may be null, which is the same as leaving it out. Answers say null for what there is not. */
export function orNull<T>(field: Schema<T>): Schema<T | null> {
  const { const: only, enum: known = only === undefined ? undefined : [only], ...rest } = field
  return {
    ...rest,
    type: [field['type'] ?? 'string', 'null'],
    ...(Array.isArray(known) && { enum: [...known, null] }),
    rule: `${field['rule']}, or null`
  }
}

/** An id that this service generated (`token_id`, `card_id`). */
export function givenId(what: string): Schema<string> {
  return { type: 'string', pattern: '^[0-9A-Za-z_-]{1,64}$', rule: `must be ${what}` }
}

export const LIST_LIMIT_DEFAULT = '20'

/** `limit` of a list. */
export function listLimit(description: string): Schema<string> {
  return {
    type: 'string',
    pattern: '^([1-9][0-9]?|100)$',
    default: LIST_LIMIT_DEFAULT,
    rule: 'must be a whole number from 1 to 100',
    description
  }
}

/** A field with its description, for docs/API.md and the OpenAPI document. */
export function about<T>(description: string, field: Schema<T>): Schema<T> {
  return { ...field, description }
}

/** An object without other fields than these. */
export function requestObject<P extends Properties, Required extends keyof P & string = never>(
  properties: P,
  required: readonly Required[],
  rule: string
): Schema<ObjectOf<P, Exclude<keyof P, Required>>> {
  return { type: 'object', additionalProperties: false, required, properties, rule }
}

/** A value of which `tag` is known to be there. */
type Tagged<T, Tag extends keyof T> = T extends unknown ? T & Required<Pick<T, Tag>> : never

/**
 * An object that is one of several; `tag` tells which. The fields of the others may be null: clients with one class for all write
 * that for what is not set.
 */
export function taggedUnion<T extends object, Tag extends keyof T & string>(
  tag: Tag,
  { description, rule, tagField }: { description: string; rule: string; tagField: Schema },
  variants: readonly Schema<T>[]
): Schema<Tagged<T, Tag>> {
  return {
    type: 'object',
    description,
    required: [tag],
    properties: { [tag]: tagField },
    rule,
    discriminator: { propertyName: tag },
    oneOf: variants.map(variant => ({ ...variant, patternProperties: unsetIn(variant, variants, tag) }))
  }
}

/** The fields of the other variants, as a pattern: the docs read `properties`. */
function unsetIn(variant: Schema, variants: readonly Schema[], tag: string): Json {
  const own = namesOf(variant)
  const others = variants.flatMap(namesOf).filter(name => !own.includes(name))
  return { [`^(${others.join('|')})$`]: { type: 'null', rule: `must be left out: it belongs to another ${tag}` } }
}

function namesOf({ properties }: Schema): string[] {
  return Object.keys(properties as Properties)
}
