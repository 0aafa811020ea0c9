/**
 * The types of the client for merchants (client/): what requests may hold and what answers hold, from the schemas of
 * docs/openapi.json, and what the script of the hosted fields gives to a page.
 */
import { readFileSync } from 'node:fs'
import { KNOWN_VALUES, VALUE_TYPES } from '../../contract/answer-fields.js'
import { publicErrorCodes } from '../../contract/errors.js'
import type { Json } from '../../contract/schema.js'
import { declineMessages } from '../../machines/decline-messages.js'
import { declineReasons } from '../../machines/declines.js'
import { paymentStatuses } from '../../machines/model.js'
import { isRecord } from '../../runtime/json.js'
import { openApiDocument, tokensDocument } from './openapi/document.js'
import { recordOf } from './record-of.js'

const NOTIFICATION = '/** Made by `npm run docs` from the schemas of requests and answers (docs/openapi.json). */'

const FIELDS_SOURCES = ['api/tokens/browser/fields-api.ts', 'api/tokens/browser/fields-values.ts']

/** Closed lists that have a name of their own. */
const NAMED_LISTS = {
  ErrorCode: publicErrorCodes,
  PaymentStatus: paymentStatuses,
  DeclineReason: declineReasons
} as const

/** Names that a type of the language has already. */
const RENAMED: Readonly<Record<string, string>> = { Error: 'ErrorEnvelope' }

const STATUS = `import type { PaymentStatus } from './answer-types.js'`

/** The files by what the names of their types look like, and the imports of each; all other types are in answer-types.ts. */
const files = [
  {
    path: 'client/request-types.ts',
    types: /Request$|^PaymentSource|^(Customer|Address|ListPaymentsQuery)$/,
    head: STATUS
  },
  { path: 'client/test-types.ts', types: /^(LoggedWebhookEvent(List)?|WebhookAttempt|Token)$/, head: STATUS },
  {
    path: 'client/webhook-types.ts',
    types: /^(WebhookEvent|EventProvider|.*WebhookEndpoint)$/,
    head: `import type { Operation, PaymentFailure, PaymentStatus, Refund } from './answer-types.js'`
  }
]

/** Path and content of each generated file of client/. */
export function clientTypeFiles(): { path: string; content: string }[] {
  const { components, paths } = openApiDocument()
  const list = recordOf(recordOf(recordOf(paths)['/v1/payments'])['get'])
  const schemas = Object.entries({
    ...schemasOf(components),
    ...schemasOf(tokensDocument()['components']),
    ListPaymentsQuery: queryObject(list['parameters'])
  })
  const declared = (isWanted: (name: string) => boolean): string[] =>
    schemas.filter(([name]) => isWanted(name)).map(([name, value]) => declaration(name, recordOf(value)))
  const lists = Object.entries(NAMED_LISTS).map(
    ([name, values]) => `export type ${name} =${before(unionOf(values.map(quoted), ''))}`
  )
  const answers = declared(name => !files.some(({ types }) => types.test(name)))
  return [
    fileOf('client/answer-types.ts', [...lists, ...answers]),
    ...files.map(({ path, types, head }) => fileOf(path, [head, ...declared(name => types.test(name))])),
    { path: 'client/decline-texts.ts', content: declineTexts() },
    { path: 'client/fields.d.ts', content: fieldsTypes() }
  ]
}

function schemasOf(components: unknown): Json {
  return recordOf(recordOf(components)['schemas'])
}

/** As the formatter breaks lines. */
const LINE_MAX = 120

function declineTexts(): string {
  const rows = Object.entries(declineMessages).map(([reason, { buyer }]) => {
    const texts = Object.entries(buyer).map(([locale, text]) => {
      const line = `    ${locale === 'en' ? locale : quoted(locale)}: ${quoted(text)}`
      const comma = locale === 'en' ? 1 : 0
      return line.length + comma <= LINE_MAX ? line : line.replace(': ', ':\n      ')
    })
    return `  ${reason}: {\n${texts.join(',\n')}\n  }`
  })
  return [
    '/** Made by `npm run docs` from machines/decline-messages.ts. */',
    "import type { DeclineReason } from './answer-types.js'",
    '',
    '/** A sentence for buyers for each reason of a decline. */',
    "export const declineTexts: Readonly<Record<DeclineReason, { readonly en: string; readonly 'pt-BR': string }>> = {",
    `${rows.join(',\n')}\n}\n`
  ].join('\n')
}

/** The interfaces as they stand in the sources, and the global that the script makes. */
function fieldsTypes(): string {
  const texts = FIELDS_SOURCES.map(path =>
    readFileSync(path, 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n(import .*\n)*\n/, '')
  )
  return [
    `/** Made by \`npm run docs\` from ${FIELDS_SOURCES.join(' and ')}. */`,
    ...texts,
    'declare global {\n  const Service: CardService\n}\n'
  ].join('\n')
}

function fileOf(path: string, parts: readonly string[]): { path: string; content: string } {
  return { path, content: `${[NOTIFICATION, ...parts].join('\n\n')}\n` }
}

function declaration(name: string, schema: Json): string {
  const type = typeOf(schema, '')
  const ownName = RENAMED[name] ?? name
  return type.startsWith('{') && type.endsWith('}')
    ? `export interface ${ownName} ${type}`
    : `export type ${ownName} =${before(type)}`
}

/** The parameters of a query as an object. */
function queryObject(parameters: unknown): Json {
  const inQuery = (Array.isArray(parameters) ? parameters : []).filter(isRecord).filter(one => one['in'] === 'query')
  const properties = inQuery.map(({ name, schema, description }) => [name, { ...recordOf(schema), description }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

/** A schema as a type; `indent` is that of the line on which it begins. */
function typeOf(schema: Json, indent: string): string {
  const { $ref, const: constant, enum: closed, oneOf, anyOf, type, properties, additionalProperties, items } = schema
  if (typeof $ref === 'string') return nameIn($ref)
  if (constant !== undefined) return quoted(constant)
  const [values, valueTypes] = [valuesOf(closed ?? schema[KNOWN_VALUES], type), schema[VALUE_TYPES]]
  if (values !== null) return listName(values) ?? unionOf(values.map(quoted), indent)
  if (Array.isArray(valueTypes)) return `Readonly<Record<string, ${unionOf(valueTypes.map(String), indent)}>>`
  const variants = oneOf ?? anyOf
  if (Array.isArray(variants))
    return unionOf(
      variants.map(one => typeOf(recordOf(one), indent)),
      indent
    )
  if (Array.isArray(type)) return type.map(one => typeOf({ ...schema, type: one }, indent)).join(' | ')
  if (type === 'null') return 'null'
  if (isRecord(properties)) return objectOf(properties, schema['required'], indent)
  if (isRecord(additionalProperties)) return `Readonly<Record<string, ${typeOf(additionalProperties, indent)}>>`
  if (isRecord(items)) return `readonly ${elementOf(typeOf(items, indent))}[]`
  return type === 'integer' ? 'number' : String(type)
}

/** With null where the type allows it: known values leave it out. */
function valuesOf(known: unknown, type: unknown): unknown[] | null {
  if (!Array.isArray(known)) return null
  return [...new Set([...known, ...(Array.isArray(type) && type.includes('null') ? [null] : [])])]
}

function objectOf(properties: Json, required: unknown, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, value]) => {
    const schema = recordOf(value)
    const isRequired = Array.isArray(required) && required.includes(name)
    return [
      ...commentOf(schema, inner),
      `${inner}readonly ${name}${isRequired ? '' : '?'}:${before(typeOf(schema, inner))}`
    ]
  })
  return ['{', ...lines, `${indent}}`].join('\n')
}

function commentOf({ description, format }: Json, indent: string): string[] {
  const facts = [
    ...(typeof description === 'string' && description !== '' ? [description] : []),
    ...(format === 'date-time' ? ['ISO 8601 in UTC'] : [])
  ]
  return facts.length === 0 ? [] : [`${indent}/** ${facts.join('; ')} */`]
}

function unionOf(types: readonly string[], indent: string): string {
  const line = types.join(' | ')
  return line.length <= 80 ? line : types.map(type => `\n${indent}  | ${type}`).join('')
}

/** A type behind a colon or an equals sign; a long union begins on its own line. */
function before(type: string): string {
  return type.startsWith('\n') ? type : ` ${type}`
}

function listName(values: readonly unknown[]): string | undefined {
  const named = values.filter(value => value !== null)
  const name = Object.entries(NAMED_LISTS).find(([, list]) => list.join() === named.join())?.[0]
  return name === undefined || named.length === values.length ? name : `${name} | null`
}

function elementOf(type: string): string {
  return type.includes(' | ') && !type.startsWith('{') ? `(${type})` : type
}

function nameIn(reference: string): string {
  const name = reference.split('/').at(-1) ?? ''
  return RENAMED[name] ?? name
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
