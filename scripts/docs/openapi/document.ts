/**
 * docs/openapi.json: the HTTP API for tools that make clients, mocks and collections of requests (OpenAPI 3.1).
 *
 * It has the same sources as docs/API.md: routes and request schemas of `api/`, the schemas of answers
 * (answer-schemas.ts), the error catalogue. The system tests hold every answer of the service against it.
 */
import { merchantRoutes } from '../../../api/http/api-app.js'
import { documentedCodes, TOKEN_CODES } from '../api/error-table.js'
import { nameOf } from '../api/page.js'
import { answerExample } from './answer-examples.js'
import { answerSchemas, type Json } from './answer-schemas.js'
import { type OperationWords, operationWords, TOKEN_ROUTE, tokenOperation } from './api-operations.js'
import { type ErrorCollectors, errorResponses } from './error-responses.js'
import { headerComponents, headersOf, parameterComponents, parametersOf } from './headers.js'
import { bodyOf, queryParameters, tokenRequest } from './requests.js'
import { webhookEvents } from './webhook-schemas.js'

export const OPENAPI_FILE = 'docs/openapi.json'

/** The document as a file. */
export function openApiFile(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`
}

/** Throws when a route has no words. */
export function openApiDocument(): Json {
  const schemas: Record<string, Json> = { ...answerSchemas }
  const responses: Record<string, Json> = {}
  const collectors: ErrorCollectors = {
    schema: (name, schema) => {
      schemas[name] = schema
      return { $ref: `#/components/schemas/${name}` }
    },
    response: (name, response) => {
      responses[name] = response
      return { $ref: `#/components/responses/${name}` }
    }
  }
  return withoutLinks({
    openapi: '3.1.1',
    info: {
      title: 'Card payments',
      version: '1',
      description:
        'Charges cards: authorise and capture in one step or two, cancel, refund in parts, store cards, signed webhooks. The same in words: docs/API.md. Amounts are integers, in cents; times are ISO 8601 in UTC. A number that a double (IEEE 754) would round is refused. Pass over fields of an answer that you do not know.'
    },
    servers: [{ url: 'http://localhost:3000', description: 'the API under `npm start`' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Payments', description: 'The life of a payment' },
      { name: 'Cards', description: 'One-use tokens and stored cards' },
      { name: 'Webhooks', description: 'Where changes of status are posted to' },
      { name: 'Service', description: 'What this service can do' },
      { name: 'Test', description: 'Test environment only; in live these routes do not exist' }
    ],
    paths: paths(collectors),
    webhooks: webhookEvents(),
    components: {
      schemas,
      responses,
      parameters: parameterComponents,
      headers: headerComponents,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A secret key: keep it on your server' },
        publishableKey: { type: 'http', scheme: 'bearer', description: 'A publishable key: it may only make tokens' }
      }
    }
  })
}

/** Links in descriptions lead to other pages of docs/, which a tool does not have. */
function withoutLinks(document: Json): Json {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === 'description' && typeof value === 'string' ? value.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') : value
  )
  return JSON.parse(text) as Json
}

function paths(collect: ErrorCollectors): Json {
  const found: Record<string, Record<string, unknown>> = {}
  for (const route of merchantRoutes) {
    const name = nameOf(route)
    const [method = '', path = ''] = name.split(' ')
    const words = operationWords[name]
    if (words === undefined) throw new Error(`scripts/docs/openapi/api-operations.ts has no words for ${name}.`)
    const parameters = [...parametersOf(route), ...(route.query === null ? [] : queryParameters(route.query))]
    const body = route.body === null ? {} : { requestBody: bodyOf(words, route.body, collect.schema) }
    found[path] = {
      ...found[path],
      [method.toLowerCase()]: {
        ...described(words, `Needs a key with the permission \`${route.permission}\`.`),
        parameters,
        ...body,
        responses: {
          ...answers(words, route.needsIdempotencyKey),
          ...errorResponses(
            { id: words.id, movesMoney: route.needsIdempotencyKey },
            documentedCodes(name, route),
            collect
          )
        }
      }
    }
  }
  return { ...found, [TOKEN_ROUTE]: tokenPath(collect) }
}

function described({ id, tag, summary, text }: OperationWords, permission: string): Json {
  return { operationId: id, tags: [tag], summary, description: `${text} ${permission}` }
}

function answers({ answers: known, id }: OperationWords, movesMoney: boolean): Json {
  const responses = known.map(({ status, schema, means }) => [
    String(status),
    {
      description: means,
      headers: headersOf(status, movesMoney),
      ...(schema && {
        content: {
          'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example: answerExample(id, status) }
        }
      })
    }
  ])
  if (responses.length === 0) throw new Error(`scripts/docs/openapi/api-operations.ts: ${id} answers nothing.`)
  return Object.fromEntries(responses)
}

function tokenPath(collect: ErrorCollectors): Json {
  return {
    servers: [{ url: 'http://localhost:3001', description: '`tokens` under `npm start`: the side of the browser' }],
    post: {
      ...described(tokenOperation, 'Needs a publishable key.'),
      security: [{ publishableKey: [] }],
      parameters: parametersOf({ path: TOKEN_ROUTE, needsIdempotencyKey: false }),
      requestBody: bodyOf(tokenOperation, { schema: tokenRequest, isOptional: false }, collect.schema),
      responses: {
        ...answers(tokenOperation, false),
        ...errorResponses({ id: tokenOperation.id, movesMoney: false }, TOKEN_CODES, collect)
      }
    }
  }
}
