export type * from './answer-types.js'
export { declineTexts } from './decline-texts.js'
export { ApiError, NoAnswerError, OutcomeUnknownError } from './errors.js'
export type { CallOptions, ClientOptions, Logger, MoneyOptions } from './options.js'
export type { Payments } from './payments.js'
export { PaymentsClient } from './payments-client.js'
export type * from './request-types.js'
export {
  approvedTestCard,
  createTestCvvToken,
  createTestToken,
  type TestCvvTokenOptions,
  type TestTokenOptions
} from './test-token.js'
export type * from './test-types.js'
export type * from './webhook-types.js'
export * as webhooks from './webhooks.js'
export { WebhookError, type WebhookErrorCode } from './webhooks.js'
