/** The made parts of docs/API.md. */
import { KNOWN_VALUES } from '../../../contract/answer-fields.js'
import { capabilitiesSchema } from '../../../contract/capabilities.js'
import { cardSchema } from '../../../contract/card.js'
import { components } from '../../../contract/components.js'
import { errorSchema } from '../../../contract/error-answer.js'
import { type ErrorCode, errorCatalogue, publicCodesOf } from '../../../contract/errors.js'
import { paymentSchema } from '../../../contract/payment.js'
import { errorsOf, nameOf, type RouteFacts } from '../../../contract/route.js'
import { createToken, routes } from '../../../contract/routes.js'
import { tokenSchema } from '../../../contract/token.js'
import { registeredWebhookEndpointSchema } from '../../../contract/webhook-endpoint.js'
import { loggedWebhookEventSchema } from '../../../contract/webhook-event.js'
import { testCards } from '../../../machines/test-cards.js'
import { filledPage, type Page, table } from '../markdown.js'
import { answerTable, fieldTable } from './field-tables.js'

/** The page as it must be. */
export function apiPage(): Page {
  const parts = [...madeParts()].map(([name, made]) => [name.replaceAll(' ', '-'), made])
  return filledPage('docs/API.md', Object.fromEntries(parts))
}

const allRoutes: readonly RouteFacts[] = [...Object.values(routes), createToken]

const answers = {
  payment: paymentSchema,
  card: cardSchema,
  'webhook endpoint': registeredWebhookEndpointSchema,
  'webhook event': loggedWebhookEventSchema,
  capabilities: capabilitiesSchema,
  error: errorSchema,
  token: tokenSchema
}

function madeParts(): ReadonlyMap<string, string> {
  const parts = new Map<string, string>([
    ['routes', routeTable()],
    ['growing lists', growingLists()],
    ['common errors', commonErrorsText()],
    ['test-cards', table(['Outcome', ...testBrands], testCardRows())]
  ])
  for (const route of allRoutes) {
    const name = nameOf(route)
    if (route.body !== undefined) parts.set(`fields of ${name}`, fieldTable(name, route.body.schema))
    if (route.query !== undefined) parts.set(`parameters of ${name}`, fieldTable(name, route.query))
  }
  for (const [name, { schema }] of Object.entries(answers)) parts.set(`answer ${name}`, answerTable(schema))
  return parts
}

function routeTable(): string {
  const rows = allRoutes.map(route => {
    const name = route === createToken ? nameOf(route).replace(' ', ' {tokens}') : nameOf(route)
    return [`\`${name}\``, `\`${route.permission}\``, otherErrorsText(route)]
  })
  return table(['Route', 'Permission', 'Errors besides the [common ones](#errors)'], rows)
}

/** The texts of answers and events that may get other values. */
function growingLists(): string {
  const fields = components.flatMap(({ name, schema }) =>
    Object.entries(schema.properties).flatMap(([field, { [KNOWN_VALUES]: values }]) =>
      Array.isArray(values) ? [`\`${name}.${field}\``] : []
    )
  )
  return `${fields.join(', ')}.`
}

/** The errors of every route, and those of every route with a body, stated once. */
const commonErrors = errorsOfAll(allRoutes)
const commonErrorsOfBodies = errorsOfAll(allRoutes.filter(({ body }) => body !== undefined))

function errorsOfAll(some: readonly RouteFacts[]): readonly ErrorCode[] {
  return errorsOf(createToken).filter(code => some.every(route => errorsOf(route).includes(code)))
}

/** The errors of a route besides the common ones. */
function otherErrorsText(route: RouteFacts): string {
  const common = publicCodesOf(route.body === undefined ? commonErrors : commonErrorsOfBodies)
  const others = errorsOf(route).filter(code => publicCodesOf([code]).some(name => !common.includes(name)))
  return errorsText(others)
}

function commonErrorsText(): string {
  const ofBodies = commonErrorsOfBodies.filter(code => !commonErrors.includes(code))
  return `Every route may answer: ${errorsText(commonErrors)}. With a body also: ${errorsText(ofBodies)}.`
}

/** Errors as a list, in the order of their statuses. */
function errorsText(codes: readonly ErrorCode[]): string {
  const statuses = [...new Set(codes.map(code => errorCatalogue[code].status))].sort((one, other) => one - other)
  const groups = statuses.map(status => {
    const names = publicCodesOf(codes.filter(code => errorCatalogue[code].status === status))
    return `${status} ${names.map(name => `\`${name}\``).join(', ')}`
  })
  return groups.join(' · ')
}

const testBrands = [...new Set(testCards.map(({ brand }) => brand))]

/** One row for each outcome, with its numbers of each brand. */
function testCardRows(): string[][] {
  const outcomes = [...new Set(testCards.map(({ outcome }) => outcome))]
  return outcomes.map(outcome => [
    outcome,
    ...testBrands.map(brand =>
      testCards
        .flatMap(card => (card.outcome === outcome && card.brand === brand ? [`\`${card.number}\``] : []))
        .join(' ')
    )
  ])
}
