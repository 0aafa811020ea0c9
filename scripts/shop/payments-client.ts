/**
 * The shop's client of the payments API. One rule matters more than all others: a request that moves money is repeated
 * with the same Idempotency-Key and the same body until its answer is known, and never sent anew under another key.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MerchantSettings } from './settings.js'

/** The parts of a payment that this shop looks at. */
export interface Payment {
  readonly id: string
  readonly status: string
  readonly captured_cents: number
  readonly refunded_cents: number
  readonly card: { readonly brand: string; readonly last4: string }
  readonly operation?: { readonly kind: string; readonly state: string }
}

/**
 * - `payment`: how it stands; also of an operation that is still under way (202)
 * - `refused`: a final no; `payment` is the payment that it is about, where there is one: its capture may have been
 *   refused while the amount stays held on the card
 * - `unclear`: no answer yet; ask again with the same key
 */
export type Answer =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly code: string; readonly payment: Payment | null }
  | { readonly kind: 'unclear' }

/** A request that moves money, kept by the shop before it is sent for the first time. */
export interface MoneyRequest {
  readonly path: string
  readonly idempotencyKey: string
  readonly body: object
}

const TRIES = 3
const RETRY_AFTER_MS = 300
/** Longer than the service waits for the card network before it answers 202. */
const TIMEOUT_MS = 12_000

export class PaymentsClient {
  readonly #merchant: MerchantSettings

  constructor(merchant: MerchantSettings) {
    this.#merchant = merchant
  }

  /** Sends a request, or sends it again. Never rejects. */
  async send(request: MoneyRequest): Promise<Answer> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const answer = await this.#call('POST', request.path, request).catch(() => undefined)
      if (answer !== undefined && !isWorthRepeating(answer)) return this.#read(answer)
      if (tries < TRIES) await sleep(answer?.retryAfterMs ?? RETRY_AFTER_MS * tries)
    }
    return { kind: 'unclear' }
  }

  /** The payment as it stands: the source of truth. Never rejects. */
  async read(paymentId: string): Promise<Answer> {
    const answer = await this.#call('GET', `/v1/payments/${paymentId}`).catch(() => undefined)
    return answer?.status === 200 ? { kind: 'payment', payment: answer.body } : { kind: 'unclear' }
  }

  /** What an answer means. A refusal is believed when the payment, which is the source of truth, has been read too. */
  async #read({ status, body }: HttpAnswer): Promise<Answer> {
    if (status < 300) return { kind: 'payment', payment: body }
    const { code = 'unknown', payment_id: paymentId } = body.error ?? {}
    if (paymentId === undefined) return { kind: 'refused', code, payment: null }
    const truth = await this.read(paymentId)
    return truth.kind === 'payment' ? { kind: 'refused', code, payment: truth.payment } : { kind: 'unclear' }
  }

  async #call(method: string, path: string, request?: MoneyRequest): Promise<HttpAnswer> {
    const response = await fetch(`${this.#merchant.baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#merchant.apiKey}`,
        ...(request && { 'Content-Type': 'application/json', 'Idempotency-Key': request.idempotencyKey })
      },
      ...(request && { body: JSON.stringify(request.body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
    const retryAfterS = Number(response.headers.get('Retry-After') ?? 0)
    const body = (await response.json()) as HttpAnswer['body']
    return { status: response.status, body, ...(retryAfterS > 0 && { retryAfterMs: retryAfterS * 1_000 }) }
  }
}

interface HttpAnswer {
  readonly status: number
  readonly body: Payment & { readonly error?: { readonly code: string; readonly payment_id?: string } }
  readonly retryAfterMs?: number
}

/** Given before the service looks for an earlier request with the key: one without an answer may have been accepted. */
const SAYS_NOTHING = [401, 403, 408, 429]

/** The same key again is right while the service is busy with it (409) or broken (5xx), or has not looked at it. */
function isWorthRepeating({ status, body }: HttpAnswer): boolean {
  if (status === 503 && body.error?.code === 'network_unavailable') return false
  if (status === 409) return body.error?.code === 'idempotency_in_progress'
  return status >= 500 || SAYS_NOTHING.includes(status)
}
