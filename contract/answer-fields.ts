/** What the schemas of answers are made of. Answers are open: fields and values may come, and a client must take them. */
import type { Json, ObjectOf, Properties, Schema } from './schema.js'

export type ObjectSchema<T = unknown> = Schema<T> & { readonly properties: Readonly<Record<string, Json>> }

const field =
  <T>(facts: Json) =>
  (description: string): Schema<T> => ({ ...facts, description })

export const text = field<string>({ type: 'string' })
export const textOrNull = field<string | null>({ type: ['string', 'null'] })
export const uuid = field<string>({ type: 'string', format: 'uuid' })
/** Without a format, generators take 32 bits. */
export const cents = field<number>({ type: 'integer', format: 'int64' })
export const milliseconds = cents
export const count = field<number>({ type: 'integer', format: 'int32' })
export const countOrNull = field<number | null>({ type: ['integer', 'null'], format: 'int32' })
export const flag = field<boolean>({ type: 'boolean' })
export const flagOrNull = field<boolean | null>({ type: ['boolean', 'null'] })
export const time = field<string>({ type: 'string', format: 'date-time' })
export const timeOrNull = field<string | null>({ type: ['string', 'null'], format: 'date-time' })

export function listOf<T>(items: Schema<T>): Schema<readonly T[]> {
  return { type: 'array', items }
}

/** The keyword that names the known values of a text that may get others. */
export const KNOWN_VALUES = 'x-extensible-enum'

/** What the values of an open object are; a schema for each of several types would make generated clients refuse them. */
export const VALUE_TYPES = 'x-value-types'

/** Text with known values, to which others may be added: an `enum` would make generated clients refuse those. */
export function oneOfKnown<Value extends string>(description: string, values: readonly Value[]): Schema<Value> {
  return { type: 'string', description, [KNOWN_VALUES]: values }
}

/** The same, or null. */
export function oneOfKnownOrNull<Value extends string>(
  description: string,
  values: readonly Value[]
): Schema<Value | null> {
  return { type: ['string', 'null'], description, [KNOWN_VALUES]: values }
}

/** Fields are always there, but for those named as optional. */
export function answerObject<P extends Properties, Optional extends keyof P = never>(
  properties: P,
  optional: readonly Optional[] = []
): ObjectSchema<ObjectOf<P, Optional>> {
  const names: readonly PropertyKey[] = optional
  const required = Object.keys(properties).filter(name => !names.includes(name))
  return { type: 'object', required, properties, additionalProperties: true }
}

/** A schema with a name: that of the type that a generated client has for it. No name begins with `New`: Go has functions of such names. */
export interface Component<T = unknown> {
  readonly name: string
  readonly schema: ObjectSchema<T>
  /** Stands for the schema in others. */
  readonly reference: Schema<T>
}

export function component<T>(name: string, schema: ObjectSchema<T>): Component<T> {
  return { name, schema, reference: reference(name) }
}

export function reference<T>(name: string): Schema<T> {
  return { $ref: `#/components/schemas/${name}` }
}

/** The type of the values of a component. */
export type Shown<C> = C extends Component<infer T> ? T : never
