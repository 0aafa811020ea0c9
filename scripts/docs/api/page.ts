/** The made parts of docs/API.md. */
import { merchantRoutes } from '../../../api/http/api-app.js'
import { KNOWN_VALUES } from '../../../contract/answer-fields.js'
import { capabilities } from '../../../contract/capabilities.js'
import { card } from '../../../contract/card.js'
import { components } from '../../../contract/components.js'
import { errorAnswer } from '../../../contract/error-answer.js'
import { payment } from '../../../contract/payment.js'
import { token, tokenBody } from '../../../contract/token.js'
import { registeredWebhookEndpoint } from '../../../contract/webhook-endpoint.js'
import { loggedWebhookEvent } from '../../../contract/webhook-event.js'
import { testCards } from '../../../machines/test-cards.js'
import { filledPage, type Page, table } from '../markdown.js'
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
  payment,
  card,
  'webhook endpoint': registeredWebhookEndpoint,
  'webhook event': loggedWebhookEvent,
  capabilities,
  error: errorAnswer,
  token
}

function madeParts(): ReadonlyMap<string, string> {
  const parts = new Map<string, string>([
    ['routes', routeTable()],
    ['growing lists', growingLists()],
    ['test-cards', table(['Number', 'Brand', 'What becomes of the payment'], testCardRows())],
    ['fields of POST /v1/tokens', fieldTable('POST /v1/tokens', tokenBody)],
    ['errors of POST /v1/tokens', errorsText(TOKEN_CODES)]
  ])
  for (const route of merchantRoutes) {
    const name = nameOf(route)
    if (route.body !== null) parts.set(`fields of ${name}`, fieldTable(name, route.body.schema))
    if (route.query !== null) parts.set(`parameters of ${name}`, fieldTable(name, route.query))
    parts.set(`errors of ${name}`, errorsText(documentedCodes(name, route)))
  }
  for (const [name, { schema }] of Object.entries(answers)) parts.set(`answer ${name}`, answerTable(schema))
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
  const rows = components.flatMap(({ name, schema }) =>
    Object.entries(schema.properties).flatMap(([field, { [KNOWN_VALUES]: values }]) =>
      Array.isArray(values) ? [[`\`${name}\``, `\`${field}\``, values.map(value => `\`${value}\``).join(', ')]] : []
    )
  )
  return table(['Schema', 'Field', 'Values today'], rows)
}

function testCardRows(): string[][] {
  return testCards.map(({ number, brand, outcome }) => [`\`${number}\``, brand, outcome])
}
