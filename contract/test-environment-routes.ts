/** The routes of the test environment (docs/TESTING.md). In live they do not exist. */
import { paymentSchema } from './payment.js'
import type { RouteFacts } from './route.js'
import { listEventsQuery, loggedWebhookEventListSchema, loggedWebhookEventSchema } from './webhook-event.js'

const TEST_ONLY = 'Test environment only: 404 in live.'

const OF_TEST_ROUTES = ['not_found', 'invalid_state', 'operation_in_progress'] as const

export const testEnvironmentRoutes = {
  chargeBackTestPayment: {
    method: 'POST',
    path: '/v1/test/payments/{id}/chargeback',
    permission: 'payments:write',
    tag: 'Test',
    summary: 'Charge a payment back',
    text: `${TEST_ONLY} The card network books a chargeback and reports it, as in live. A payment that is charged back already stays so.`,
    answers: [
      { status: 200, schema: paymentSchema, means: 'The payment, `charged_back`.' },
      { status: 202, schema: paymentSchema, means: 'Booked at the network, and not verified yet: read the payment.' }
    ],
    errors: [...OF_TEST_ROUTES, 'simulator_missing', 'network_unavailable']
  },
  expireTestPayment: {
    method: 'POST',
    path: '/v1/test/payments/{id}/expire',
    permission: 'payments:write',
    tag: 'Test',
    summary: 'Let a pre-authorisation expire now',
    text: `${TEST_ONLY} What follows bears the time of \`expires_at\`. A payment that is expired already stays so.`,
    answers: [
      { status: 200, schema: paymentSchema, means: 'The payment, `expired`; the hold is released.' },
      { status: 202, schema: paymentSchema, means: 'Asked of the workers, and not done yet: read the payment.' }
    ],
    errors: OF_TEST_ROUTES
  },
  sendTestWebhookEvent: {
    method: 'POST',
    path: '/v1/test/webhook-events',
    permission: 'webhooks:write',
    tag: 'Test',
    summary: 'Send a test event to your endpoint',
    text: `${TEST_ONLY} An event of the type \`webhook.test\`, signed and retried like every other one. Each request sends a new one.`,
    answers: [{ status: 201, schema: loggedWebhookEventSchema, means: 'It is on its way.' }],
    errors: ['not_found', 'webhook_endpoint_missing']
  },
  listTestWebhookEvents: {
    method: 'GET',
    path: '/v1/test/webhook-events',
    permission: 'webhooks:write',
    query: listEventsQuery,
    tag: 'Test',
    summary: 'List the last webhook events, those that were sent last first',
    text: `${TEST_ONLY} An event that is being sent at this moment is missing until its attempt has ended.`,
    answers: [{ status: 200, schema: loggedWebhookEventListSchema, means: 'The last events, with their attempts.' }],
    errors: ['not_found']
  },
  replayTestWebhookEvent: {
    method: 'POST',
    path: '/v1/test/webhook-events/{id}/replay',
    permission: 'webhooks:write',
    tag: 'Test',
    summary: 'Send a webhook event again',
    text: `${TEST_ONLY} The same event with the same \`event_id\`. One that waits is sent at once.`,
    answers: [{ status: 200, schema: loggedWebhookEventSchema, means: 'It is on its way again.' }],
    errors: ['not_found', 'too_many_events']
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
