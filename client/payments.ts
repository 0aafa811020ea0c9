/** Payments: create, read, list, capture, cancel, refund. */
import { pathOf } from './address.js'
import type { Payment, PaymentPage } from './answer-types.js'
import type { CallOptions, MoneyOptions } from './options.js'
import type {
  CancelPaymentRequest,
  CapturePaymentRequest,
  CreatePaymentRequest,
  ListPaymentsQuery
} from './request-types.js'
import { MethodGroup } from './transport.js'

/** Calls that move money reject with `ApiError` (final) or `OutcomeUnknownError`; the others with `ApiError` or `NoAnswerError`. */
export class Payments extends MethodGroup {
  /** Charges a card, or holds the amount on it (`capture: false`). Resolves when the result is known. */
  create(payment: CreatePaymentRequest, options?: MoneyOptions): Promise<Payment> {
    return this.send({ method: 'POST', path: '/v1/payments', body: payment, movesMoney: true }, options)
  }

  /** The current payment, the source of truth. */
  async get(paymentId: string, options?: CallOptions): Promise<Payment> {
    return await this.send({ method: 'GET', path: pathOf('payments', paymentId) }, options)
  }

  /** All payments that match, newest first. Requests further pages when needed; `limit` is the size of a page. */
  async *list(query: ListPaymentsQuery = {}, options?: CallOptions): AsyncGenerator<Payment, void, undefined> {
    for (let next: ListPaymentsQuery | null = query; next !== null; ) {
      const { items, next_cursor: cursor }: PaymentPage = await this.page(next, options)
      yield* items
      next = cursor === null ? null : { ...query, cursor }
    }
  }

  /** One page of `list`. It may be empty before the end: only `next_cursor: null` is the end. */
  page(query: ListPaymentsQuery = {}, options?: CallOptions): Promise<PaymentPage> {
    return this.send({ method: 'GET', path: '/v1/payments', query }, options)
  }

  /** Captures a hold, once: `amount_cents` of it, or all. */
  capture(paymentId: string, amount: CapturePaymentRequest = {}, options?: MoneyOptions): Promise<Payment> {
    return this.#operate('capture', paymentId, amount, options)
  }

  /** Releases a hold. A payment that is already captured is refunded in full. */
  cancel(paymentId: string, options?: MoneyOptions): Promise<Payment> {
    return this.#operate('cancel', paymentId, {}, options)
  }

  /** Refunds `amount_cents` of a captured payment, or the rest of it. */
  refund(paymentId: string, amount: CancelPaymentRequest = {}, options?: MoneyOptions): Promise<Payment> {
    return this.#operate('cancel', paymentId, amount, options)
  }

  async #operate(
    operation: string,
    paymentId: string,
    amount: CancelPaymentRequest,
    options?: MoneyOptions
  ): Promise<Payment> {
    // JSON omits undefined fields: the whole amount would move.
    if ('amount_cents' in amount && amount.amount_cents === undefined) {
      throw new TypeError('`amount_cents` is undefined. Give an amount in cents, or leave it out for the whole amount.')
    }
    const path = `${pathOf('payments', paymentId)}/${operation}`
    return await this.send({ method: 'POST', path, body: amount, movesMoney: true }, options)
  }
}
