/** Tables of the fields of requests and answers, from their schemas. */
import type { ObjectSchema } from '../../../contract/answer-fields.js'
import { components } from '../../../contract/components.js'
import type { Json, Schema } from '../../../contract/schema.js'
import { isRecord } from '../../../runtime/json.js'
import { table } from '../markdown.js'
import { recordOf } from '../record-of.js'

interface FieldRow {
  readonly path: string
  readonly type: string
  readonly required: string
  readonly fallback: string
  readonly meaning: string
  readonly rule: string
}

/** All fields of a request, with the meaning and the rule that its schema holds. Throws when a field has none. */
export function fieldTable(route: string, schema: Schema): string {
  const rows = rowsOf(schema, '')
  const silent = rows.filter(({ meaning, rule }) => meaning === '' || rule === '').map(({ path }) => path)
  if (silent.length > 0) throw new Error(`${route}: no description or rule in the schema of ${silent.join(', ')}`)
  const cells = rows.map(({ path, type, required, fallback, meaning, rule }) => [
    `\`${path}\``,
    [type, required.trim(), fallback].filter(part => part !== '').join(', '),
    [path.endsWith(`.${meaning}`) ? '' : meaning, ruleText(rule)].filter(part => part !== '').join(': ')
  ])
  return table(['Field', 'Type', 'Meaning, and rule'], cells)
}

/** The rule of an error message, as a part of a table: the type names what it is, and the page what holds for all texts. */
function ruleText(rule: string): string {
  return rule
    .replace(/^must be (text of |an object (that says|with the) .*|true or false)?/, '')
    .replace(/^an object with /, '')
    .replace(/^the (one-use token|card_id) .*/, '')
    .replace(/,? or null$/, '')
    .replace(/(, not blank,)? without control characters or a card number/, '')
}

/** All fields of an answer; an object without a description of its own stands for its fields. */
export function answerTable(schema: ObjectSchema): string {
  return table(['Field', 'Type', 'Meaning'], answerRows(schema, '', new Map()))
}

/** `pathOf`: where the fields of a component are in the table; where it comes again, one row refers to them. */
function answerRows({ properties }: ObjectSchema, prefix: string, pathOf: Map<unknown, string>): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    if ('description' in field) return [[`\`${path}\``, answerType(field), String(field['description'])]]
    const items = field['items']
    const inner = isRecord(items) ? items : field
    const earlier = pathOf.get(inner['$ref'])
    if (earlier !== undefined) return [[`\`${path}\``, 'object', `as \`${earlier}\``]]
    if ('$ref' in inner) pathOf.set(inner['$ref'], path)
    return answerRows(resolved(inner), isRecord(items) ? `${path}[].` : `${path}.`, pathOf)
  })
}

function resolved(schema: Json): ObjectSchema {
  const known = components.find(({ reference }) => reference['$ref'] === schema['$ref'])
  return known?.schema ?? (schema as ObjectSchema)
}

/** `timestamp or null`. */
function answerType({ type, format, items }: Json): string {
  const [first, ...others] = [type].flat().map(String)
  const inner: Json = resolved(recordOf(items))
  if (first === 'array') {
    const fields = Object.keys(recordOf(inner['properties']))
    return fields.length > 0 ? `array of \`{${fields.join(', ')}}\`` : `array of ${inner['type']}s`
  }
  const name = format === 'date-time' ? 'timestamp' : format === 'uuid' ? 'string, UUID' : first
  return [name, ...others].join(' or ')
}

function rowsOf(schema: Schema, prefix: string, only = ''): FieldRow[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const together = recordOf(schema['dependentRequired'])
  return members(schema['properties']).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const condition = only === '' ? '' : ` with ${only}`
    const row = {
      path,
      // A number in a query arrives as text.
      type: name === 'limit' ? 'integer' : typeOf(field),
      required: `${required.includes(name) ? 'required' : name in together ? 'all or none' : ''}${condition}`,
      fallback: 'default' in field ? `default \`${String(field['default'])}\`` : '',
      ...wordsOf(field)
    }
    return [row, ...rowsBelow(field, path, only)]
  })
}

function rowsBelow(field: Schema, path: string, only: string): FieldRow[] {
  const rows = isRecord(field['properties']) ? rowsOf(field, `${path}.`, only) : []
  if (isRecord(field['additionalProperties']) && isRecord(field['propertyNames'])) {
    const { additionalProperties: value, propertyNames: name } = field
    const { meaning, rule: valueRule } = wordsOf(value)
    const rule = `${valueRule}; it ${wordsOf(name).rule}`
    rows.push({ path: `${path}.*`, type: typeOf(value), required: '', fallback: '', meaning, rule })
  }
  return [...rows, ...variantRows(field, path)]
}

/** Of an object that is one of several: its tag is in the table already, the rest says with which tag. */
function variantRows({ oneOf, discriminator }: Schema, path: string): FieldRow[] {
  if (!Array.isArray(oneOf) || !isRecord(discriminator)) return []
  const tag = String(discriminator['propertyName'])
  return oneOf.filter(isRecord).flatMap(variant => {
    const kind = members(variant['properties']).find(([name]) => name === tag)?.[1]['const']
    return rowsOf(variant, `${path}.`, `\`${String(kind)}\``).filter(row => row.path !== `${path}.${tag}`)
  })
}

function wordsOf({ description = '', rule = '' }: Schema): { readonly meaning: string; readonly rule: string } {
  return { meaning: String(description), rule: String(rule) }
}

function members(properties: unknown): [string, Schema][] {
  return Object.entries(recordOf(properties)).filter((member): member is [string, Schema] => isRecord(member[1]))
}

/** A schema without a type is a list of texts, or a text. */
function typeOf({ type }: Schema): string {
  return Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'string'
}
