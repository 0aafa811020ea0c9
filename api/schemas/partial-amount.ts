/** Body of capture and cancel: `amount_cents` or nothing (docs/API.md#post-v1paymentsidcapture). */
import { amountCents, object } from './fields.js'
import { parserOf } from './rules.js'

export const partialAmountBody = object({ amount_cents: amountCents }, [], 'must be a JSON object, or no body at all')

const parse = parserOf<{ amount_cents?: number }>(partialAmountBody, 'body')

/** The amount in cents; null (the whole amount) when there is no body, or nothing in it. */
export function parsePartialAmount(body: unknown): number | null {
  return body === undefined ? null : (parse(body).amount_cents ?? null)
}
