/** The schemas of requests: those that judge them, in words that every tool knows. */
import type { RouteFacts } from '../../../contract/route.js'
import type { Json, Schema } from '../../../contract/schema.js'
import { isRecord } from '../../../runtime/json.js'
import { recordOf } from '../record-of.js'
import { bodyExample } from './answer-examples.js'

/** Keeps a schema under a name; answers the reference to it. */
export type SchemaCollector = (name: string, schema: Json) => Json

/** Without U+0080 to U+009F, U+2028 and U+2029, which are refused too: generated PHP holds patterns against bytes. */
const CONTROL = '\\x00-\\x1f\\x7f'
const PLAIN = { pattern: `^[^${CONTROL}]*$` }
/** From the first character on: generated Python looks there only. */
const FILLED = { minLength: 1, pattern: `^[^${CONTROL}]*[^\\s${CONTROL}][^${CONTROL}]*$` }

/** Formats that only this service knows, as far as a tool can check them; the description says the rest. */
const knownFormats: Readonly<Record<string, Json>> = {
  email: { format: 'email' },
  'date-time': { format: 'date-time' },
  filled: FILLED,
  'cpf-or-cnpj': { pattern: '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$' },
  'metadata-key': FILLED,
  text: PLAIN,
  note: { pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]*$' }
}

/**
 * Keywords that mean the same everywhere. A `default` stands in the description: generators make a field with one
 * required, and it is not.
 */
const COMMON = [
  'type',
  'const',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'required',
  'maxProperties',
  'dependentRequired'
]

/** Objects within requests that have a name of their own, by the name of their field. */
const namedParts: Readonly<Record<string, string>> = {
  customer: 'Customer',
  address: 'Address',
  payment_source: 'PaymentSource'
}

/** The body of a route. */
export function bodyOf(id: string, body: NonNullable<RouteFacts['body']>, collect: SchemaCollector): Json {
  const schema = collect(requestName(id), publicSchema(body.schema, collect))
  return { required: !body.isOptional, content: { 'application/json': { schema, example: bodyExample(id) } } }
}

function requestName(id: string): string {
  return `${capitalised(id)}Request`
}

/** `createPayment` as the beginning of the name of a type. */
export function capitalised(id: string): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}`
}

/** The parameters of a query. A number arrives as text; a client has it as a number. */
export function queryParameters(query: Schema): Json[] {
  return Object.entries(recordOf(query['properties'])).map(([name, field]) => {
    const { description, ...schema } = publicSchema(recordOf(field), noNames)
    const example = exampleParameters[name]
    if (example === undefined) throw new Error(`scripts/docs/openapi/requests.ts has no example for ${name}.`)
    return { name, in: 'query', description, schema: name === 'limit' ? limitParameter : schema, example }
  })
}

/** Without them, tools invent values that the service refuses. */
const exampleParameters: Readonly<Record<string, unknown>> = {
  status: 'captured',
  external_reference: 'order-1',
  created_from: '2026-01-05T00:00:00Z',
  created_to: '2026-01-06T00:00:00Z',
  limit: 20,
  cursor: 'next_cursor-of-the-page-before'
}

/** `limit` of a list as a number. */
export const limitParameter = { type: 'integer', format: 'int32', minimum: 1, maximum: 100 } as const

/** A schema as others may read it. */
function publicSchema(schema: Schema, collect: SchemaCollector): Json {
  if (Array.isArray(schema['oneOf'])) return oneOf(schema, collect)
  const below = (field: unknown, name = ''): Json => {
    const inner = publicSchema(recordOf(field), collect)
    const partName = namedParts[name]
    return partName === undefined ? inner : collect(partName, inner)
  }
  const { properties, additionalProperties, propertyNames, format, type } = schema
  const whole: Json = {
    ...(Object.keys(schema).some(key => key === 'type') ? {} : { type: 'string' }),
    ...Object.fromEntries(COMMON.flatMap(key => (isSaid(schema[key]) ? [[key, schema[key]]] : []))),
    ...([type].flat().includes('integer') && { format: integerFormat(schema) }),
    ...formatOf(format),
    ...('documentedPattern' in schema && { pattern: schema['documentedPattern'] }),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, below(field, name)]))
    }),
    ...(additionalProperties === false && { additionalProperties }),
    ...(isRecord(additionalProperties) && { additionalProperties: below(additionalProperties) }),
    ...(isRecord(propertyNames) && { propertyNames: below(propertyNames) }),
    description: [schema['description'], schema['rule'], defaultOf(schema)].filter(Boolean).join('; ')
  }
  return Array.isArray(type) && type.length > 2 ? anyOf(whole, type) : whole
}

/** OpenAPI 3.0 knows no empty `required`. */
function isSaid(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}

/** Without a format, generators take 32 bits. */
function integerFormat({ maximum }: Schema): string {
  return Number(maximum) < 2 ** 31 ? 'int32' : 'int64'
}

function defaultOf(schema: Schema): string {
  return 'default' in schema ? `by default ${String(schema['default'])}` : ''
}

const rulesOfType: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum']
}

/** A value of several types, each with its own rules: validators made from rules of several types at once are wrong. */
function anyOf(schema: Json, types: readonly unknown[]): Json {
  const variants = types.map(type => {
    const rules = rulesOfType[String(type)] ?? []
    return {
      type,
      ...(type === 'number' && { format: 'double' }),
      ...Object.fromEntries(rules.flatMap(key => (key in schema ? [[key, schema[key]]] : [])))
    }
  })
  return { anyOf: variants, description: schema['description'] }
}

function formatOf(format: unknown): Json {
  if (typeof format !== 'string') return {}
  const known = knownFormats[format]
  if (known === undefined) throw new Error(`scripts/docs/openapi/requests.ts does not know the format ${format}.`)
  return known
}

/**
 * Variants get names of their own. Tools tell them apart by what they require: with a `discriminator`, generated clients
 * lose its field or send it twice.
 */
function oneOf({ oneOf: variants, discriminator, description }: Schema, collect: SchemaCollector): Json {
  const tag = isRecord(discriminator) ? String(discriminator['propertyName']) : ''
  const named = (Array.isArray(variants) ? variants : []).filter(isRecord).map(variant => {
    const properties = recordOf(variant['properties'])
    const kind = String(recordOf(properties[tag])['const'] ?? '')
    const required = Array.isArray(variant['required']) ? variant['required'] : []
    const whole = publicSchema({ ...variant, description, required: [tag, ...required] }, collect)
    return collect(`PaymentSource${capitalised(kind)}`, whole)
  })
  return { description, oneOf: named }
}

/** For schemas that have no variants. */
function noNames(name: string): never {
  throw new Error(`scripts/docs/openapi/requests.ts: ${name} would need a name in a query.`)
}
