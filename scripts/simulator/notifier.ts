/**
 * The network's notifications ("Post de Notificacao"): `{"PaymentId","ChangeType"}` and a static header, no signature.
 *
 * Only HTTP 200 counts as received. Sent up to four times, in the background; then lost, as with the real network: the
 * service has to query as well.
 */
import { delay } from '../../runtime/delay.js'
import type { Logger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'

/** `ChangeType` of a chargeback. */
export const CHARGEBACK = 7

const ATTEMPT_TIMEOUT_MS = 10_000

export interface NotifierOptions {
  readonly url: string
  /** Value of the header `X-Notification-Secret`, the only proof of origin. */
  readonly secret: string
  /** Pauses before the second, third and fourth attempt. */
  readonly retryDelaysMs: readonly number[]
  readonly log: Logger
}

export class Notifier {
  readonly #options: NotifierOptions
  readonly #stopping = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  /** Sends in the background; never throws. */
  notify(paymentId: string, changeType: number): void {
    const sending = this.#deliver(JSON.stringify({ PaymentId: paymentId, ChangeType: changeType }), paymentId)
    this.#inFlight.add(sending)
    void sending.finally(() => this.#inFlight.delete(sending))
  }

  /** Aborts deliveries in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#inFlight)
  }

  async #deliver(body: string, paymentId: string): Promise<void> {
    const { log, retryDelaysMs, url } = this.#options
    for (const pauseMs of [0, ...retryDelaysMs]) {
      await delay(pauseMs, this.#stopping.signal)
      if (this.#stopping.signal.aborted) return
      const problem = await this.#attempt(body)
      if (problem === null) return
      log.warn({ network_payment_id: paymentId, url, problem }, 'notification was not received')
    }
    log.error({ network_payment_id: paymentId, url }, 'notification is lost, every attempt failed')
  }

  /** `null` when it was received, else what went wrong. */
  async #attempt(body: string): Promise<string | null> {
    try {
      const response = await fetch(this.#options.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Notification-Secret': this.#options.secret },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)])
      })
      await response.body?.cancel()
      return response.status === 200 ? null : `HTTP ${response.status}`
    } catch (error) {
      return messageOf(error)
    }
  }
}
