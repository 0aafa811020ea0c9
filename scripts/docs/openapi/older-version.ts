/** OpenAPI 3.0.3 of a document in OpenAPI 3.1, for generators: most of them read 3.0 only, or read 3.1 with mistakes. */
import type { Json } from '../../../contract/schema.js'
import { isRecord } from '../../../runtime/json.js'
import { recordOf } from '../record-of.js'

/** The same document in the older version. Webhooks stand as callbacks of the route that registers their address. */
export function olderVersion(document: Json): Json {
  const { webhooks, ...rest } = document
  const whole = recordOf(older({ ...withOpenTags(rest), openapi: '3.0.3' }))
  if (webhooks === undefined) return whole
  const paths = recordOf(whole['paths'])
  const path = '/v1/webhook-endpoint'
  const put = { ...recordOf(recordOf(paths[path])['put']), callbacks: callbacksOf(recordOf(older(webhooks))) }
  return { ...whole, paths: { ...paths, [path]: { ...recordOf(paths[path]), put } } }
}

/** The field that tells variants apart may be each of their constants: PHP merges variants, and keeps the values of one. */
function withOpenTags(document: Json): Json {
  const components = recordOf(document['components'])
  const schemas = recordOf(components['schemas'])
  const tagged = Object.keys(schemas).filter(name => /^PaymentSource./.test(name))
  const tagOf = (name: string): Json => recordOf(recordOf(recordOf(schemas[name])['properties'])['source_type'])
  const values = tagged.map(name => tagOf(name)['const'])
  const open = tagged.map(name => {
    const { const: _, ...tag } = tagOf(name)
    const properties = { ...recordOf(recordOf(schemas[name])['properties']), source_type: { ...tag, enum: values } }
    return [name, { ...recordOf(schemas[name]), properties }]
  })
  return { ...document, components: { ...components, schemas: { ...schemas, ...Object.fromEntries(open) } } }
}

function callbacksOf(webhooks: Json): Json {
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, operations]) => [name, { '{$request.body#/url}': operations }])
  )
}

function older(value: unknown, key = ''): unknown {
  if (key === 'example' || key === 'examples') return value
  if (Array.isArray(value)) return value.map(one => older(one))
  if (!isRecord(value)) return value
  // A reference has no other keywords.
  if (typeof value['$ref'] === 'string') return { $ref: value['$ref'] }
  const { type, const: constant, anyOf, propertyNames: _, dependentRequired: _together, ...others } = value
  const { pattern: _pattern, ...unpatterned } = others
  // Generated Python can't hold a UUID against a pattern.
  const rest = value['format'] === 'uuid' ? unpatterned : others
  const inner = Object.fromEntries(Object.entries(withoutNull(rest)).map(([name, one]) => [name, older(one, name)]))
  // Several types for one value: generators cannot read it.
  if (Array.isArray(anyOf)) return inner
  return { ...typeOf(type), ...inner, ...(constant !== undefined && { enum: [constant] }) }
}

/**
 * An optional field of a request is left out in place of null: generated types for both are nested, and hard to fill. Only
 * requests forbid what they do not know.
 */
function withoutNull(schema: Json): Json {
  const { properties, required, additionalProperties } = schema
  if (!isRecord(properties) || additionalProperties !== false) return schema
  const fields = Object.entries(properties).map(([name, field]) => {
    const { type, enum: values, ...rest } = recordOf(field)
    const isOptional = !(Array.isArray(required) && required.includes(name))
    if (!isOptional || !Array.isArray(type)) return [name, field]
    const isValue = (one: unknown): boolean => one !== null && one !== 'null'
    return [name, { ...rest, type: type.find(isValue), ...(Array.isArray(values) && { enum: values.filter(isValue) }) }]
  })
  return { ...schema, properties: Object.fromEntries(fields) }
}

/** `['string', 'null']` was `string` with `nullable`. */
function typeOf(type: unknown): Json {
  if (!Array.isArray(type)) return type === undefined ? {} : { type }
  const [first] = type.filter(one => one !== 'null')
  return { type: first, ...(type.includes('null') && { nullable: true }) }
}
