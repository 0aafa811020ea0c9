/** Payments: create, read, list, capture, cancel, refund. */
import type { Payment, PaymentPage } from './answer-types.js'
import type { CallOptions, MoneyOptions } from './options.js'
import type {
  CancelPaymentRequest,
  CapturePaymentRequest,
  CreatePaymentRequest,
  ListPaymentsQuery
} from './request-types.js'
import { MethodGroup, pathOf } from './transport.js'

/** Calls that move money reject with `ApiError` (a final no) or `OutcomeUnknownError`; the others with `ApiError` or `NoAnswerError`. */
export class Payments extends MethodGroup {
  /** Charges a card, or holds the amount on it (`capture: false`). Resolves when the result is known. */
  create(payment: CreatePaymentRequest, options?: MoneyOptions): Promise<Payment> {
    return this.send({ method: 'POST', path: '/v1/payments', body: payment, movesMoney: true }, options)
  }

  /** The payment as it stands: the source of truth, at any time. */
  get(paymentId: string, options?: CallOptions): Promise<Payment> {
    return this.send({ method: 'GET', path: pathOf('payments', paymentId) }, options)
  }

  /** All payments that match, newest first. Asks for the next page when the one before is used up; `limit` is its size. */
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

  /** Releases a hold. A payment that is captured by then is refunded, with all that is left of it. */
  cancel(paymentId: string, options?: MoneyOptions): Promise<Payment> {
    return this.#operate('cancel', paymentId, {}, options)
  }

  /** Gives back `amount_cents` of a captured payment, or all that is left. */
  refund(paymentId: string, amount: CancelPaymentRequest = {}, options?: MoneyOptions): Promise<Payment> {
    return this.#operate('cancel', paymentId, amount, options)
  }

  #operate(
    operation: string,
    paymentId: string,
    amount: CancelPaymentRequest,
    options?: MoneyOptions
  ): Promise<Payment> {
    // JSON would leave the field out, and the whole amount would move.
    if ('amount_cents' in amount && amount.amount_cents === undefined) {
      throw new TypeError('`amount_cents` is undefined. Give an amount in cents, or leave it out for the whole amount.')
    }
    const path = `${pathOf('payments', paymentId)}/${operation}`
    return this.send({ method: 'POST', path, body: amount, movesMoney: true }, options)
  }
}
