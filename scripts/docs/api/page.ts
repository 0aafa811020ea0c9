/**
 * docs/API.md: prose that is written by hand, and between two marks each table that is made from the code.
 *
 * `<!-- made: routes -->` begins a made part, `<!-- end -->` ends it.
 */
import { readFileSync } from 'node:fs'
import { merchantRoutes } from '../../../api/http/api-app.js'
import { testCards } from '../../../machines/test-cards.js'
import { table } from '../table.js'
import { errorsOf, tokenErrors } from './error-table.js'
import { answerTables } from './example-answers.js'
import { fieldTable, tokenFieldTable } from './field-tables.js'

export const API_PAGE = 'docs/API.md'
const PART = /<!-- made: (\S+) -->\n.*?<!-- end -->/gs

/** The page as it must be. Throws when it lacks a part, or has an unknown one. */
export function apiPage(): string {
  const parts = madeParts()
  const unused = new Set(parts.keys())
  const page = readFileSync(API_PAGE, 'utf8').replace(PART, (_, name: string) => {
    const made = parts.get(name)
    if (made === undefined) throw new Error(`${API_PAGE} asks for a part "${name}", which does not exist.`)
    unused.delete(name)
    return `<!-- made: ${name} -->\n\n${made.trim()}\n\n<!-- end -->`
  })
  if (unused.size > 0) throw new Error(`${API_PAGE} has no place for ${[...unused].join(', ')}.`)
  return page
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
  return new Map([...parts].map(([name, made]) => [name.replaceAll(' ', '-'), made]))
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
