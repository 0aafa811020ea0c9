/** The made parts of docs/API.md. */
import { merchantRoutes } from '../../../api/http/api-app.js'
import { testCards } from '../../../machines/test-cards.js'
import { filledPage, type Page, table } from '../markdown.js'
import { answerSchemas } from '../openapi/answer-schemas.js'
import { tokenRequest } from '../openapi/requests.js'
import { type Json, KNOWN_VALUES } from '../openapi/schema-parts.js'
import { documentedCodes, errorsText, TOKEN_CODES } from './error-table.js'
import { answerTable, fieldTable } from './field-tables.js'

/** The page as it must be. */
export function apiPage(): Page {
  const parts = [...madeParts()].map(([name, made]) => [name.replaceAll(' ', '-'), made])
  return filledPage('docs/API.md', Object.fromEntries(parts))
}

/** How a route is named in the page: `POST /v1/payments/{id}/capture`. */
export function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`
}

const answers = {
  payment: answerSchemas.Payment,
  card: answerSchemas.Card,
  'webhook endpoint': answerSchemas.RegisteredWebhookEndpoint,
  'webhook event': answerSchemas.LoggedWebhookEvent,
  capabilities: answerSchemas.Capabilities,
  error: answerSchemas.Error,
  token: answerSchemas.Token
}

function madeParts(): ReadonlyMap<string, string> {
  const parts = new Map<string, string>([
    ['routes', routeTable()],
    ['growing lists', growingLists()],
    ['test-cards', table(['Number', 'Brand', 'What becomes of the payment'], testCardRows())],
    ['fields of POST /v1/tokens', fieldTable('POST /v1/tokens', tokenRequest)],
    ['errors of POST /v1/tokens', errorsText(TOKEN_CODES)]
  ])
  for (const route of merchantRoutes) {
    const name = nameOf(route)
    if (route.body !== null) parts.set(`fields of ${name}`, fieldTable(name, route.body.schema))
    if (route.query !== null) parts.set(`parameters of ${name}`, fieldTable(name, route.query))
    parts.set(`errors of ${name}`, errorsText(documentedCodes(name, route)))
  }
  for (const [name, schema] of Object.entries(answers)) parts.set(`answer ${name}`, answerTable(schema))
  return parts
}

function routeTable(): string {
  const rows = merchantRoutes.map(route => {
    const body = route.body === null ? 'none' : route.body.isOptional ? 'JSON, or none' : 'JSON'
    return [`\`${nameOf(route)}\``, `\`${route.permission}\``, route.needsIdempotencyKey ? 'required' : '', body]
  })
  return table(['Route', 'Permission', '`Idempotency-Key`', 'Body'], rows)
}

/** The texts of answers and events that may get other values, with those of today. */
function growingLists(): string {
  const rows = Object.entries(answerSchemas).flatMap(([name, { properties }]) =>
    Object.entries<Json>(properties).flatMap(([field, { [KNOWN_VALUES]: values }]) =>
      Array.isArray(values) ? [[`\`${name}\``, `\`${field}\``, values.map(value => `\`${value}\``).join(', ')]] : []
    )
  )
  return table(['Schema', 'Field', 'Values today'], rows)
}

function testCardRows(): string[][] {
  return testCards.map(({ number, brand, outcome }) => [`\`${number}\``, brand, outcome])
}
