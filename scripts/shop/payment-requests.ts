/**
 * The shop's requests to the payments API, and what their answers mean for an order. The most important rule: a request
 * that moves money is repeated with the same Idempotency-Key and body until its answer is known, never under another key.
 */
import { ApiError, type CreatePaymentRequest, type Payment, type PaymentsClient } from '../../client/index.js'

/** A request that moves money, kept by the shop before it is sent for the first time. */
export type MoneyRequest =
  | { readonly kind: 'create'; readonly idempotencyKey: string; readonly body: CreatePaymentRequest }
  | {
      readonly kind: 'refund'
      readonly idempotencyKey: string
      readonly paymentId: string
      readonly body: { readonly amount_cents?: number }
    }

/** The parts of a payment that this shop looks at. */
export type PaidPayment = Pick<Payment, 'id' | 'status' | 'captured_cents' | 'refunded_cents' | 'card' | 'provider'>

/**
 * - `payment`: how it stands
 * - `refused`: a final no; `payment` is the payment that it is about, where there is one: its capture may have been
 *   refused while the amount stays held on the card
 * - `unclear`: no answer yet; ask again with the same key
 */
export type Answer =
  | { readonly kind: 'payment'; readonly payment: PaidPayment }
  | { readonly kind: 'refused'; readonly code: string; readonly payment: PaidPayment | null }
  | { readonly kind: 'unclear' }

/** Short: the order book retries, and the buyer sees meanwhile that the payment is under analysis. */
const DEADLINE_MS = 1_500

/** Sends a request, or sends it again. Never rejects. */
export async function sendRequest(client: PaymentsClient, request: MoneyRequest): Promise<Answer> {
  const options = { idempotencyKey: request.idempotencyKey, deadlineMs: DEADLINE_MS }
  try {
    const payment =
      request.kind === 'create'
        ? await client.payments.create(request.body, options)
        : await client.payments.refund(request.paymentId, request.body, options)
    return { kind: 'payment', payment }
  } catch (error) {
    return error instanceof ApiError ? await refusalOf(client, error) : { kind: 'unclear' }
  }
}

/** Reads the payment, which is the source of truth. Never rejects. */
export async function readPayment(client: PaymentsClient, paymentId: string): Promise<Answer> {
  return await client.payments.get(paymentId).then(
    payment => ({ kind: 'payment', payment }),
    () => ({ kind: 'unclear' })
  )
}

/** A refusal counts only together with a read of the payment, the source of truth. */
async function refusalOf(client: PaymentsClient, { code, paymentId }: ApiError): Promise<Answer> {
  if (paymentId === undefined) return { kind: 'refused', code, payment: null }
  const truth = await readPayment(client, paymentId)
  return truth.kind === 'payment' ? { kind: 'refused', code, payment: truth.payment } : truth
}
