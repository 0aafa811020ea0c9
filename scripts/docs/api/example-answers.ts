/** What answers hold: the fields that the presenters make of a sample, with the words of `words.ts`. */

import { presentCard } from '../../../api/cards/card-presenter.js'
import { presentError } from '../../../api/http/middleware/error-envelope.js'
import { capabilitiesOf } from '../../../api/payments/capabilities-route.js'
import { presentPayment } from '../../../api/payments/payment-presenter.js'
import { presentTestEvent } from '../../../api/test-environment/test-event-presenter.js'
import { presentNewEndpoint } from '../../../api/webhook-endpoint/webhook-endpoint-presenter.js'
import { testChange } from '../../../redis/webhooks/webhook-event.js'
import { loggedEvent } from '../../../redis/webhooks/webhook-log.js'
import { readConfig } from '../../../runtime/config.js'
import { ServiceError } from '../../../runtime/errors.js'
import { isRecord } from '../../../runtime/json.js'
import { examplePayment } from '../payment-paths/example-payment.js'
import { table } from '../table.js'
import { type AnswerWords, answerWords, tokenAnswer } from './words.js'

const ID = '00000000-0000-7000-8000-000000000000'
const sampleCard = {
  cardId: ID,
  brand: 'visa',
  last4: '0060',
  expirationMonth: '12',
  expirationYear: '2030',
  holderName: ''
}
const sampleError = new ServiceError('invalid_request', { paymentId: ID, fields: [] })

/** One table for each kind of answer. Throws when a field has no words, or words no field. */
export function answerTables(): [string, string][] {
  const { payment, card, capabilities, error } = answerWords
  return [
    ['answer payment', checkedTable(payment, samplePayment())],
    ['answer card', checkedTable(card, presentCard(sampleCard))],
    [
      'answer webhook endpoint',
      checkedTable(answerWords['webhook endpoint'], presentNewEndpoint({ url: '', secret: '', updatedAtMs: 0 }))
    ],
    ['answer webhook event', checkedTable(answerWords['webhook event'], sampleEvent())],
    ['answer capabilities', checkedTable(capabilities, capabilitiesOf(readConfig({ SERVICE_ENV: 'test' })))],
    ['answer error', checkedTable(error, presentError(sampleError, { requestId: ID, correlationId: ID }))],
    ['answer token', answerTable(tokenAnswer)]
  ]
}

function checkedTable(words: AnswerWords, sample: unknown): string {
  const paths = pathsOf(sample, '')
  const described = Object.keys(words)
  if (paths.join() !== described.join()) {
    const [without, gone] = [
      paths.filter(path => !described.includes(path)),
      described.filter(path => !paths.includes(path))
    ]
    throw new Error(
      `scripts/docs/api/words.ts must describe the fields of this answer, in its order: ${paths.join(', ')}. ` +
        `Without words: ${without.join(', ') || 'none'}. Described, and not answered: ${gone.join(', ') || 'none'}.`
    )
  }
  return answerTable(words)
}

function answerTable(words: AnswerWords): string {
  const rows = Object.entries(words).map(([path, [type, meaning]]) => [`\`${path}\``, type, meaning])
  return table(['Field', 'Type', 'Meaning'], rows)
}

/** The names of all values that are no objects, such as `card.last4`, or `refunds[].state` in a list. */
function pathsOf(value: unknown, prefix: string): string[] {
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const [first] = Array.isArray(inner) ? inner : []
    if (isRecord(first)) return pathsOf(first, `${prefix}${name}[].`)
    const isGroup = isRecord(inner) && Object.keys(inner).length > 0
    return isGroup ? pathsOf(inner, `${prefix}${name}.`) : [`${prefix}${name}`]
  })
}

function sampleEvent(): Record<string, unknown> {
  const event = loggedEvent('', 'delivered', testChange(ID, 0))
  return presentTestEvent({ event, attempts: [{ eventId: ID, atMs: 0, status: 204, durationMs: 0, note: '' }] })
}

function samplePayment(): Record<string, unknown> {
  const { terms, progress } = examplePayment('auto')
  const error = 'provider_rejected'
  const refund = {
    amountCents: 1,
    state: 'failed',
    idempotencyKey: ID,
    requestedAtMs: 0,
    concludedAtMs: 0,
    error
  } as const
  return presentPayment(terms, { ...progress, refunds: [refund], error }, 'test')
}
