/** The schemas of all answers and of webhook events, in the order of the documents. */
import type { Component } from './answer-fields.js'
import { capabilities, rateLimit, tokenization } from './capabilities.js'
import { card } from './card.js'
import { errorAnswer, errorDetail, fieldProblem } from './error-answer.js'
import { payment, paymentCard, paymentCustomer, paymentPage, paymentProvider } from './payment.js'
import { operation, paymentFailure, refund } from './payment-parts.js'
import { token } from './token.js'
import { registeredWebhookEndpoint, webhookEndpoint } from './webhook-endpoint.js'
import {
  eventProvider,
  loggedWebhookEvent,
  loggedWebhookEventList,
  webhookAttempt,
  webhookEvent
} from './webhook-event.js'

export const components: readonly Component[] = [
  refund,
  operation,
  paymentFailure,
  paymentCard,
  paymentCustomer,
  paymentProvider,
  payment,
  paymentPage,
  card,
  registeredWebhookEndpoint,
  webhookEndpoint,
  eventProvider,
  webhookEvent,
  webhookAttempt,
  loggedWebhookEvent,
  loggedWebhookEventList,
  rateLimit,
  tokenization,
  capabilities,
  fieldProblem,
  errorDetail,
  errorAnswer,
  token
]
