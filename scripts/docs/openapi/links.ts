/** What can be done with what an answer holds: links of OpenAPI, which tools follow from one request to the next. */
import type { Component } from '../../../contract/answer-fields.js'
import type { Json } from '../../../contract/schema.js'

const link = (operationId: string, parameter: string, field: string): Json => ({
  operationId,
  parameters: { [parameter]: `$response.body#/${field}` }
})

/** Kept once, under the names that answers refer to. */
export const linkComponents: Readonly<Record<string, Json>> = {
  ReadPayment: link('readPayment', 'id', 'id'),
  CapturePayment: link('capturePayment', 'id', 'id'),
  CancelPayment: link('cancelPayment', 'id', 'id'),
  ReadNextPage: link('listPayments', 'cursor', 'next_cursor'),
  ReadCard: link('readCard', 'id', 'card_id'),
  EraseCard: link('eraseCard', 'id', 'card_id'),
  ReplayEvent: link('replayTestWebhookEvent', 'id', 'event_id')
}

/** By the schema of the answer. */
const linksOfSchema: Readonly<Record<string, readonly string[]>> = {
  Payment: ['ReadPayment', 'CapturePayment', 'CancelPayment'],
  PaymentPage: ['ReadNextPage'],
  Card: ['ReadCard', 'EraseCard'],
  LoggedWebhookEvent: ['ReplayEvent']
}

/** The `links` of an answer with that schema; none: an empty object. */
export function linksOf({ name: schema }: Component): Json {
  const names = linksOfSchema[schema] ?? []
  if (names.length === 0) return {}
  return { links: Object.fromEntries(names.map(name => [name, { $ref: `#/components/links/${name}` }])) }
}
