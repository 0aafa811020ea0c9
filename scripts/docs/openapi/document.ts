/**
 * The HTTP API for tools that make clients, mocks and collections of requests: docs/openapi.json (OpenAPI 3.1), and one
 * document for the side of the browser, which has another address and another key. older-version.ts makes the documents
 * for tools that read OpenAPI 3.0.
 *
 * They have the same source as docs/API.md: the contract. The system tests hold every answer of the service against them.
 */
import { components as shown } from '../../../contract/components.js'
import { errorsOf, type RouteFacts } from '../../../contract/route.js'
import { createToken, routes } from '../../../contract/routes.js'
import type { Json } from '../../../contract/schema.js'
import { recordOf } from '../record-of.js'
import { answerExample } from './answer-examples.js'
import { errorResponses } from './error-responses.js'
import { headerComponents, headersOf, parameterComponents, parametersOf } from './headers.js'
import { bodyOf, queryParameters } from './requests.js'
import { webhookEvents } from './webhooks.js'

const VERSION = { openapi: '3.1.1' }
const CONVENTIONS =
  'Amounts are integers, in cents; times are ISO 8601 in UTC. A number that a double (IEEE 754) would round is refused. Pass over fields of an answer that you do not know, and take values that `x-extensible-enum` does not name: both may come at any time.'

/** What stands in many places is kept under a name. */
type Components = Readonly<Record<'schemas' | 'responses', Record<string, Json>>>

/** The API of a merchant's server. */
export function openApiDocument(): Json {
  const components = newComponents()
  return completed(components, 'apiKey', 'A secret key: keep it on your server', {
    ...VERSION,
    info: {
      title: 'Card payments',
      version: '1',
      description: `Charges cards: authorise and capture in one step or two, cancel, refund in parts, store cards, signed webhooks. The same in words: docs/API.md. ${CONVENTIONS}`
    },
    servers: [{ url: 'http://localhost:3000', description: 'the API under `npm start`' }],
    tags: [
      { name: 'Payments', description: 'The life of a payment' },
      { name: 'Cards', description: 'Stored cards' },
      { name: 'Webhooks', description: 'Where changes of status are posted to' },
      { name: 'Events', description: 'What is posted there' },
      { name: 'Service', description: 'What this service can do' },
      { name: 'Test', description: 'Test environment only; in live these routes do not exist' }
    ],
    paths: paths(components),
    webhooks: webhookEvents()
  })
}

/** The API of a buyer's browser. */
export function tokensDocument(): Json {
  const components = newComponents()
  return completed(components, 'publishableKey', 'A publishable key: it may only make tokens', {
    ...VERSION,
    info: {
      title: 'Card payments: tokens',
      version: '1',
      description: `Turns a typed card into a one-use token, from the buyer's browser. ${CONVENTIONS}`
    },
    servers: [{ url: 'http://localhost:3001', description: '`tokens` under `npm start`' }],
    tags: [{ name: 'Tokens', description: 'One-use tokens' }],
    paths: {
      [createToken.path]: { post: operation(components, 'createToken', createToken, 'Needs a publishable key.') }
    }
  })
}

function newComponents(): Components {
  return { schemas: Object.fromEntries(shown.map(({ name, schema }) => [name, schema])), responses: {} }
}

/** The document with its key and with the components that it uses. */
function completed(components: Components, key: string, description: string, document: Json): Json {
  const all = { ...components, parameters: parameterComponents, headers: headerComponents }
  const whole = { ...document, security: [{ [key]: [] }] }
  return withoutLinks({
    ...whole,
    components: { ...usedOf(all, whole), securitySchemes: { [key]: { type: 'http', scheme: 'bearer', description } } }
  })
}

/** The components that `document` refers to, directly or through others. */
function usedOf(components: Json, document: Json): Json {
  const used = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, place = ''] of JSON.stringify(value).matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)) {
      if (used.has(place)) continue
      used.add(place)
      const [kind = '', name = ''] = place.split('/')
      follow(recordOf(components[kind])[name])
    }
  }
  follow(document)
  const groups = Object.entries(components).map(([kind, group]) => [
    kind,
    Object.fromEntries(Object.entries(recordOf(group)).filter(([name]) => used.has(`${kind}/${name}`)))
  ])
  return Object.fromEntries(groups.filter(([, group = {}]) => Object.keys(group).length > 0))
}

/** Links in descriptions lead to other pages of docs/, which a tool does not have. */
function withoutLinks(document: Json): Json {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === 'description' && typeof value === 'string' ? value.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') : value
  )
  return JSON.parse(text) as Json
}

function paths(components: Components): Json {
  const found: Record<string, Record<string, unknown>> = {}
  for (const [id, route] of Object.entries<RouteFacts>(routes)) {
    const permission = `Needs a key with the permission \`${route.permission}\`.`
    found[route.path] = {
      ...found[route.path],
      [route.method.toLowerCase()]: operation(components, id, route, permission)
    }
  }
  return found
}

function operation({ schemas, responses }: Components, id: string, route: RouteFacts, permission: string): Json {
  const { tag, summary, text, body, query, exampleKey } = route
  const movesMoney = exampleKey !== undefined
  const keep =
    (group: Record<string, Json>, kind: string) =>
    (name: string, value: Json): Json => {
      group[name] = value
      return { $ref: `#/components/${kind}/${name}` }
    }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${text} ${permission}`,
    parameters: [...parametersOf(route.path, exampleKey), ...(query === undefined ? [] : queryParameters(query))],
    ...(body !== undefined && { requestBody: bodyOf(id, body, keep(schemas, 'schemas')) }),
    responses: {
      ...answers(id, route, movesMoney),
      ...errorResponses({ id, movesMoney }, errorsOf(route), keep(responses, 'responses'))
    }
  }
}

function answers(id: string, { answers: known }: RouteFacts, movesMoney: boolean): Json {
  const responses = known.map(({ status, schema, means }) => [
    String(status),
    {
      description: means,
      headers: headersOf(status, movesMoney),
      ...(schema && {
        content: { 'application/json': { schema: schema.reference, example: answerExample(id, status) } }
      })
    }
  ])
  return Object.fromEntries(responses)
}
