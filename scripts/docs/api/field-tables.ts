/** What requests may hold, from the schemas that judge them. */
import type { Schema } from '../../../api/http/schema.js'
import { isRecord } from '../../../runtime/json.js'
import { table } from '../table.js'
import { requestWords, tokenWords } from './words.js'

interface FieldRow {
  readonly path: string
  readonly type: string
  readonly required: string
  readonly fallback: string
  readonly rule: string
}

/** All fields of a request, with the rule that its schema holds and the words of `words.ts`. Throws when a field has none. */
export function fieldTable(route: string, schema: Schema): string {
  const words: Readonly<Record<string, string>> = requestWords[route] ?? {}
  const rows = rowsOf(schema, '')
  const missing = rows.filter(({ path }) => words[path] === undefined).map(({ path }) => path)
  const tooMany = Object.keys(words).filter(path => rows.every(row => row.path !== path))
  if (missing.length + tooMany.length > 0) {
    throw new Error(
      `scripts/docs/api/words.ts, ${route}: no words for ${missing.join(', ') || 'none'}, no field ${tooMany.join(', ') || 'none'}`
    )
  }
  const cells = rows.map(({ path, type, required, fallback, rule }) => [
    `\`${path}\``,
    type,
    required,
    fallback,
    words[path] ?? '',
    rule
  ])
  return table(['Field', 'Type', 'Required', 'Default', 'Meaning', 'Rule'], cells)
}

/** The fields of a typed card: their rules are functions (api/tokens/card-input.ts), their words stand in `words.ts`. */
export function tokenFieldTable(): string {
  const rows = Object.entries(tokenWords).map(([path, words]) => [`\`${path}\``, 'string', 'yes', words])
  return table(['Field', 'Type', 'Required', 'Meaning: rule'], rows)
}

function rowsOf(schema: Schema, prefix: string, only = ''): FieldRow[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return members(schema['properties']).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const condition = only === '' ? '' : `, with ${only}`
    const row = {
      path,
      type: typeOf(field),
      required: `${required.includes(name) ? 'yes' : 'no'}${condition}`,
      fallback: 'default' in field ? `\`${String(field['default'])}\`` : '',
      rule: String(field['rule'])
    }
    return [row, ...rowsBelow(field, path, only)]
  })
}

function rowsBelow(field: Schema, path: string, only: string): FieldRow[] {
  const rows = isRecord(field['properties']) ? rowsOf(field, `${path}.`, only) : []
  if (isRecord(field['additionalProperties']) && isRecord(field['propertyNames'])) {
    const { additionalProperties: value, propertyNames: name } = field
    const rule = `${String(value['rule'])}; it ${String(name['rule'])}`
    rows.push({ path: `${path}.*`, type: typeOf(value), required: 'no', fallback: '', rule })
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

function members(properties: unknown): [string, Schema][] {
  return isRecord(properties)
    ? Object.entries(properties).filter((member): member is [string, Schema] => isRecord(member[1]))
    : []
}

/** A schema without a type is a list of texts, or a text. */
function typeOf({ type }: Schema): string {
  return Array.isArray(type) ? type.join(', ') : typeof type === 'string' ? type : 'string'
}
