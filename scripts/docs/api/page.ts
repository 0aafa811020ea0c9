/** The made parts of docs/API.md. */
import { merchantRoutes } from '../../../api/http/api-app.js'
import { testCards } from '../../../machines/test-cards.js'
import { filledPage, type Page } from '../filled-page.js'
import { table } from '../table.js'
import { errorsOf, tokenErrors } from './error-table.js'
import { answerTables } from './example-answers.js'
import { fieldTable, tokenFieldTable } from './field-tables.js'

/** The page as it must be. */
export function apiPage(): Page {
  const parts = [...madeParts()].map(([name, made]) => [name.replaceAll(' ', '-'), made])
  return filledPage('docs/API.md', Object.fromEntries(parts))
}

/** How a route is named in the page: `POST /v1/payments/{id}/capture`. */
export function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`
}

function madeParts(): ReadonlyMap<string, string> {
  const parts = new Map<string, string>([
    ['routes', routeTable()],
    ['test-cards', table(['Number', 'Brand', 'What becomes of the payment'], testCardRows())],
    ['fields of POST /v1/tokens', tokenFieldTable()],
    ['errors of POST /v1/tokens', tokenErrors()]
  ])
  for (const route of merchantRoutes) {
    const name = nameOf(route)
    if (route.body !== null) parts.set(`fields of ${name}`, fieldTable(name, route.body.schema))
    if (route.query !== null) parts.set(`parameters of ${name}`, fieldTable(name, route.query))
    parts.set(`errors of ${name}`, errorsOf(name, route))
  }
  for (const [name, made] of answerTables()) parts.set(name, made)
  return parts
}

function routeTable(): string {
  const rows = merchantRoutes.map(route => {
    const body = route.body === null ? 'none' : route.body.isOptional ? 'JSON, or none' : 'JSON'
    return [`\`${nameOf(route)}\``, `\`${route.permission}\``, route.needsIdempotencyKey ? 'required' : '', body]
  })
  return table(['Route', 'Permission', '`Idempotency-Key`', 'Body'], rows)
}

function testCardRows(): string[][] {
  return testCards.map(({ number, brand, outcome }) => [`\`${number}\``, brand, outcome])
}
