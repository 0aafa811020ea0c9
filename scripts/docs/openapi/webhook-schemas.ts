/** What the service posts to a merchant's endpoint (docs/WEBHOOKS.md). */
import { paymentStatuses } from '../../../machines/model.js'
import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../redis/webhooks/webhook-event.js'

import { eventExample } from './answer-examples.js'

type Json = Readonly<Record<string, unknown>>

const cents = { type: 'integer', minimum: 0 }

/** The body of an event, some of whose fields have the schema that they have in a payment. */
export const eventSchema = ({ properties: ofPayment }: Json & { properties: Json }): Json => ({
  type: 'object',
  required: [
    'event_id',
    'event_type',
    'payment_id',
    'external_reference',
    'status',
    'amount_cents',
    'captured_cents',
    'refunded_cents',
    'refunds',
    'operation',
    'occurred_at'
  ],
  properties: {
    event_id: { type: 'string', format: 'uuid', description: 'The same for each delivery: discard what you have seen' },
    event_type: {
      type: 'string',
      enum: [EVENT_TYPE, TEST_EVENT_TYPE],
      description: '`webhook.test`: sent on request in the test environment, about no payment'
    },
    payment_id: { type: 'string', format: 'uuid' },
    external_reference: { type: 'string', description: 'Your order id' },
    status: { type: 'string', enum: paymentStatuses, description: 'After the change' },
    amount_cents: cents,
    captured_cents: cents,
    refunded_cents: cents,
    refunds: ofPayment['refunds'],
    operation: ofPayment['operation'],
    error: ofPayment['error'],
    occurred_at: { type: 'string', format: 'date-time' }
  }
})

const signature = {
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description:
    '`t=<seconds since 1970>,v1=<hex>`: HMAC-SHA256 of `t`, a dot and the body as it arrived, with the secret of the endpoint. After a rotation there are several `v1`.',
  schema: { type: 'string' }
}
const eventName = {
  name: 'X-Service-Event',
  in: 'header',
  required: true,
  schema: { enum: [EVENT_TYPE, TEST_EVENT_TYPE], type: 'string' }
}

export function webhookEvents(): Json {
  return {
    [EVENT_TYPE]: {
      post: {
        operationId: 'paymentStatusChanged',
        tags: ['Webhooks'],
        summary: 'The status of a payment has changed',
        description:
          'Delivered at least once, in order for each payment, again and again for about three days until it is answered with 2xx. A notice: the truth is what readPayment answers.',
        security: [],
        parameters: [signature, eventName],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/PaymentStatusChanged' },
              example: eventExample()
            }
          }
        },
        responses: {
          '2XX': { description: 'Received. Answer within 10 s, and do the work afterwards.' },
          '410': { description: 'Do not send this event again.' }
        }
      }
    }
  }
}
