/** The schemas of all answers and of webhook events, in the order of the documents. */
import type { Component } from './answer-fields.js'
import { capabilitiesSchema, rateLimitSchema, tokenizationSchema } from './capabilities.js'
import { cardSchema } from './card.js'
import { errorDetailSchema, errorSchema, fieldProblemSchema } from './error-answer.js'
import {
  paymentCardSchema,
  paymentCustomerSchema,
  paymentPageSchema,
  paymentProviderSchema,
  paymentSchema
} from './payment.js'
import { operationSchema, paymentFailureSchema, refundSchema } from './payment-parts.js'
import { tokenSchema } from './token.js'
import { registeredWebhookEndpointSchema, webhookEndpointSchema } from './webhook-endpoint.js'
import {
  eventProviderSchema,
  loggedWebhookEventListSchema,
  loggedWebhookEventSchema,
  webhookAttemptSchema,
  webhookEventSchema
} from './webhook-event.js'

export const components: readonly Component[] = [
  refundSchema,
  operationSchema,
  paymentFailureSchema,
  paymentCardSchema,
  paymentCustomerSchema,
  paymentProviderSchema,
  paymentSchema,
  paymentPageSchema,
  cardSchema,
  registeredWebhookEndpointSchema,
  webhookEndpointSchema,
  eventProviderSchema,
  webhookEventSchema,
  webhookAttemptSchema,
  loggedWebhookEventSchema,
  loggedWebhookEventListSchema,
  rateLimitSchema,
  tokenizationSchema,
  capabilitiesSchema,
  fieldProblemSchema,
  errorDetailSchema,
  errorSchema,
  tokenSchema
]
