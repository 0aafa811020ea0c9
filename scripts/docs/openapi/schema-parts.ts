/** What the schemas of answers are made of. Answers are open: fields and values may come, and a client must take them. */
export type Json = Readonly<Record<string, unknown>>

export type ObjectSchema = Json & { readonly properties: Readonly<Record<string, Json>> }

const field =
  (facts: Json) =>
  (description: string, more: Json = {}): Json => ({ ...facts, description, ...more })

export const text = field({ type: 'string' })
export const textOrNull = field({ type: ['string', 'null'] })
export const uuid = field({ type: 'string', format: 'uuid' })
/** Without a format, generators take 32 bits. */
export const cents = field({ type: 'integer', format: 'int64' })
export const milliseconds = cents
export const count = field({ type: 'integer', format: 'int32' })
export const countOrNull = field({ type: ['integer', 'null'], format: 'int32' })
export const flag = field({ type: 'boolean' })
export const flagOrNull = field({ type: ['boolean', 'null'] })
export const time = field({ type: 'string', format: 'date-time' })
export const timeOrNull = field({ type: ['string', 'null'], format: 'date-time' })

export function listOf(items: Json): Json {
  return { type: 'array', items }
}

export function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

/** Text with known values, to which others may be added: an `enum` would make generated clients refuse those. */
export function oneOfKnown(description: string, values: readonly string[], type: Json['type'] = 'string'): Json {
  return { type, description, [KNOWN_VALUES]: values }
}

/** The keyword that names the known values of a text that may get others. */
export const KNOWN_VALUES = 'x-extensible-enum'

/** What the values of an open object are; a schema for each of several types would make generated clients refuse them. */
export const VALUE_TYPES = 'x-value-types'

/** Fields are always there, but for those named as optional. */
export function object(properties: Readonly<Record<string, Json>>, optional: readonly string[] = []): ObjectSchema {
  const required = Object.keys(properties).filter(name => !optional.includes(name))
  return { type: 'object', required, properties, additionalProperties: true }
}
