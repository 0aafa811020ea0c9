/**
 * A merchant under chaos: sends at its own pace, unaffected by the service (open loop). Like every merchant should, it
 * repeats a request with the same key until it has a final answer. Not with the client of client/: this one audits what that
 * relies on, so it must record every try, tell each status, and ask all instances in turn.
 */
import { Agent, request } from 'undici'
import { type Payment, PaymentsClient } from '../../client/index.js'
import { isOpen } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { delay } from '../../runtime/delay.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import { demoCard, demoCustomer } from '../../scripts/start/demo-customer.js'
import type { RequestRecord } from './record.js'

export interface Target {
  /** All instances, as a load balancer would know them. */
  readonly apiUrls: readonly string[]
  readonly tokensUrls: readonly string[]
  readonly networkUrl: string
  readonly apiKey: string
  readonly publishableKey: string
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const TRY_TIMEOUT_MS = 10_000
const PAUSE_FIRST_MS = 50
/** Such as in a long freeze, in which all clients of a run are without an answer. */
const PAUSE_MAX_MS = 3_000
/** After an answer that leaves the outcome open, which may be so for days: thousands who ask each second would be all the load. */
const OPEN_PAUSE_MAX_MS = 8_000
const CARDS = [
  '4024007153760060',
  '4024007153760060',
  '4024007153760060',
  '4024007153760052',
  '4024007153760029'
] as const
const AMOUNT_CENTS = 10_000
const PART_CENTS = 4_000

export class ChaosClient {
  readonly records: RequestRecord[] = []
  readonly #target: Target
  readonly #random: () => number
  readonly #running = new Set<Promise<void>>()
  /** Not `fetch`, which takes more of the machine's time than the service that it asks. */
  readonly #connections = new Agent()
  #isGivingUp = false

  constructor(target: Target, random: () => number) {
    this.#target = target
    this.#random = random
  }

  get open(): number {
    return this.#running.size
  }

  /** Starts one payment; it goes on by itself. */
  begin(name: string): void {
    const story = this.#play(name).finally(() => this.#running.delete(story))
    this.#running.add(story)
  }

  /** Changes a payment of long ago: refunds a part of it, or the buyer disputes it. */
  change(paymentId: string, name: string): void {
    const isRefund = this.#random() < 0.8
    const change = isRefund ? this.#operate('cancel', name, 0, paymentId, 500) : this.#dispute(paymentId)
    const story = change.finally(() => this.#running.delete(story))
    this.#running.add(story)
  }

  /** Resolves when every story has ended, or after `limitMs`. */
  async idle(limitMs: number): Promise<void> {
    const stopped = new AbortController()
    await Promise.race([Promise.all([...this.#running]), delay(limitMs, stopped.signal)])
    stopped.abort()
  }

  /** The same, for good: what is open then stays without an answer. */
  async finish(limitMs: number): Promise<void> {
    await this.idle(limitMs)
    this.#isGivingUp = true
    await Promise.all([...this.#running])
  }

  /** Has the service tell `url` of every change. Resolves to the secret that signs the webhooks. */
  async registerWebhook(url: string): Promise<string> {
    const client = new PaymentsClient({ baseUrl: this.#pick(this.#target.apiUrls), apiKey: this.#target.apiKey })
    return (await client.webhookEndpoint.register({ url })).secret
  }

  /** The payment as the service shows it; null when it does not know it. */
  async read(paymentId: string): Promise<Payment | null> {
    const answer = await this.#get(`/v1/payments/${paymentId}`)
    return answer?.status === 200 ? viewOf(answer.body) : null
  }

  async #play(name: string): Promise<void> {
    const beganMs = performance.now()
    const token = await this.#token(this.#pick(CARDS))
    if (token === null) return
    const isManual = this.#random() < 0.4
    const body = {
      amount_cents: AMOUNT_CENTS,
      capture: !isManual,
      external_reference: name,
      payment_source: { source_type: 'token', token_id: token },
      customer: demoCustomer
    }
    const asked = { paymentId: null, amountCents: AMOUNT_CENTS, beganMs }
    const created = await this.#ask('create', `${name}-create`, '/v1/payments', body, asked)
    const id = created.answer?.id
    if (id === undefined || created.answer?.status === 'failed') return
    if (isManual && this.#random() < 0.8) await this.#operate('capture', name, 0, id, this.#pick([null, PART_CENTS]))
    else if (isManual) await this.#operate('cancel', name, 0, id, null)
    for (let part = 1; part <= 2 && this.#random() < 0.4; part++) {
      await this.#operate('cancel', name, part, id, this.#pick([1_000, 2_500, 994]))
    }
    if (this.#random() < 0.1) await this.#dispute(id)
  }

  async #operate(
    kind: 'capture' | 'cancel',
    name: string,
    step: number,
    id: string,
    amountCents: number | null
  ): Promise<void> {
    const body = amountCents === null ? {} : { amount_cents: amountCents }
    await this.#ask(kind, `${name}-${kind}-${step}`, `/v1/payments/${id}/${kind}`, body, { paymentId: id, amountCents })
  }

  /** The buyer disputes at the bank, in any status of the payment. */
  async #dispute(id: string): Promise<void> {
    await fetch(`${this.#target.networkUrl}/simulator/chargebacks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ merchant_order_id: orderIdOf(id) }),
      signal: AbortSignal.timeout(TRY_TIMEOUT_MS)
    }).catch(() => undefined)
  }

  /** Sends one request until it is answered for good. A 202 is no end: the same request is asked again. */
  async #ask(
    kind: RequestRecord['kind'],
    key: string,
    path: string,
    body: object,
    asked: { readonly paymentId: string | null; readonly amountCents: number | null; readonly beganMs?: number }
  ): Promise<RequestRecord> {
    const { paymentId, amountCents, beganMs = performance.now() } = asked
    const record: RequestRecord = {
      key,
      kind,
      amountCents,
      paymentIds: new Set(paymentId === null ? [] : [paymentId]),
      status: null,
      answer: null,
      tries: 0,
      last: '',
      lastMs: 0,
      beganMs,
      outageMs: null
    }
    this.records.push(record)
    for (let pauseMs = PAUSE_FIRST_MS; !this.#isGivingUp; ) {
      record.tries++
      const answer = await this.#post(path, key, body)
      if (answer !== null) Object.assign(record, { last: nameOf(answer), lastMs: performance.now() })
      const isAnswered = answer !== null && isServed(answer)
      if (isAnswered) {
        record.outageMs ??= performance.now() - record.beganMs
        if (this.#isFinal(record, answer)) return record
      }
      await delay(pauseMs * (0.5 + this.#random()))
      pauseMs = Math.min(2 * pauseMs, isAnswered ? OPEN_PAUSE_MAX_MS : PAUSE_MAX_MS)
    }
    return record
  }

  /** Notes what an answer says. False: ask again. */
  #isFinal(record: RequestRecord, answer: Answer): boolean {
    const { status, body } = answer
    const error = isRecord(body['error']) ? body['error'] : null
    const id = body['id'] ?? error?.['payment_id']
    if (typeof id === 'string') record.paymentIds.add(id)
    if (status === 202 || NOT_TAKEN.includes(status) || codeOf(answer) === 'idempotency_in_progress') return false
    const view = viewOf(body)
    // A replay of a request whose outcome is open shows the payment as it stands.
    if (view !== null && isOpen(view.operation)) return false
    record.status = status
    record.answer = view
    return true
  }

  async #token(card: string): Promise<string | null> {
    for (let pauseMs = PAUSE_FIRST_MS; !this.#isGivingUp; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
      const url = `${this.#pick(this.#target.tokensUrls)}/v1/tokens`
      const answer = await this.#send(url, this.#target.publishableKey, { ...demoCard, card_number: card })
      const id = answer?.body['token_id']
      if (answer?.status === 201 && typeof id === 'string') return id
      await delay(pauseMs * (0.5 + this.#random()))
    }
    return null
  }

  /** To one instance and, when that gives no answer, at once to the next one, as a load balancer would. */
  async #post(path: string, key: string, body: object): Promise<Answer | null> {
    const { apiUrls, apiKey } = this.#target
    const first = Math.floor(this.#random() * apiUrls.length)
    for (const url of [...apiUrls.slice(first), ...apiUrls.slice(0, first)]) {
      const answer = await this.#send(url + path, apiKey, body, { 'Idempotency-Key': key })
      if (answer !== null) return answer
    }
    return null
  }

  async #get(path: string): Promise<Answer | null> {
    return await this.#send(this.#pick(this.#target.apiUrls) + path, this.#target.apiKey, null)
  }

  /** Null: no whole answer came. */
  async #send(
    url: string,
    key: string,
    body: object | null,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer | null> {
    try {
      const response = await request(url, {
        dispatcher: this.#connections,
        method: body === null ? 'GET' : 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
        body: body === null ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(TRY_TIMEOUT_MS)
      })
      const value = parseJson(await response.body.text())
      return { status: response.statusCode, body: isRecord(value) ? value : {} }
    } catch {
      return null
    }
  }

  #pick<T>(choices: readonly T[]): T {
    const chosen = choices[Math.floor(this.#random() * choices.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
}

/** Nothing was read or done: too slow, too many. */
const NOT_TAKEN: readonly number[] = [408, 429]

/** The results, told as a 503, of requests for which nothing was sent. They stay as they are. */
export const NOTHING_SENT: readonly unknown[] = ['network_unavailable', 'authorization_overdue']

/** An answer of the service at work. */
function isServed(answer: Answer): boolean {
  return answer.status < 500 || NOTHING_SENT.includes(codeOf(answer))
}

function nameOf(answer: Answer): string {
  const { status, body } = answer
  const operation = isRecord(body['operation']) ? body['operation']['state'] : undefined
  return [status, codeOf(answer), body['status'], operation].filter(part => part !== undefined).join(' ')
}

function codeOf({ body }: Answer): unknown {
  return isRecord(body['error']) ? body['error']['code'] : undefined
}

function viewOf(body: Readonly<Record<string, unknown>>): Payment | null {
  return typeof body['id'] === 'string' && typeof body['status'] === 'string' ? (body as unknown as Payment) : null
}
