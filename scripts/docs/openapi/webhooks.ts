/** What the service posts to a merchant's endpoint (docs/WEBHOOKS.md). */
import { oneOfKnown, reference } from '../../../contract/answer-fields.js'
import type { Json } from '../../../contract/schema.js'
import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../contract/webhook-event.js'
import { eventExample } from './answer-examples.js'

const signature = {
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description:
    '`t=<seconds since 1970>,v1=<hex>`: HMAC-SHA256 of `t` as it stands in the header, a dot and the body as it arrived, with the secret of the endpoint; 64 lower-case hex digits. After a rotation there are several `v1`.',
  schema: { type: 'string' }
}
const eventName = {
  name: 'X-Service-Event',
  in: 'header',
  required: true,
  schema: oneOfKnown('the type of the event', [EVENT_TYPE, TEST_EVENT_TYPE])
}

export function webhookEvents(): Json {
  return {
    [EVENT_TYPE]: {
      post: {
        operationId: 'paymentStatusChanged',
        // Not the tag of the routes: generators would replace their class with that of the events.
        tags: ['Events'],
        summary: 'The status of a payment has changed',
        description:
          'Delivered at least once, in order for each payment, again and again for about three days until it is answered with 2xx. A notice: the truth is what readPayment answers.',
        security: [],
        parameters: [signature, eventName],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: reference('WebhookEvent'),
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
