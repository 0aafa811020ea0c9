/** What the service posts to a merchant's endpoint (docs/WEBHOOKS.md). */
import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../redis/webhooks/webhook-event.js'
import { eventExample } from './answer-examples.js'
import type { Json } from './answer-schemas.js'

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
