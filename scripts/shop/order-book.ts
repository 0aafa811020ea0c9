/**
 * The shop's orders, and the only caller of the payments API about them. A real shop keeps orders in its database, and
 * writes the pending request there in the transaction that decides to send it.
 */
import { randomBytes } from 'node:crypto'
import type { PaymentsClient } from '../../client/index.js'
import { afterAnswer, isSettled, newOrder, type Order, withPayment, withRefund } from './order.js'
import { readPayment, sendRequest } from './payment-requests.js'

export class OrderBook {
  readonly #orders = new Map<string, Order>()
  /** The last queued work of each order. */
  readonly #turns = new Map<string, Promise<void>>()
  readonly #client: PaymentsClient

  constructor(client: PaymentsClient) {
    this.#client = client
  }

  open(): Order {
    return this.#keep(newOrder(`order-${randomBytes(6).toString('hex')}`))
  }

  find(id: string): Order | undefined {
    return this.#orders.get(id)
  }

  /** Orders with at least one try to pay, latest first. */
  list(): Order[] {
    return [...this.#orders.values()].filter(order => order.attempts > 0).reverse()
  }

  /** Pays with a one-use token. An order that is paid, or may be, stays as it is: clicking twice pays once. */
  pay(id: string, tokenId: string, card: string): Promise<Order> {
    return this.#inTurn(id, order => this.#send(order, withPayment(order, tokenId, card)))
  }

  /** Refunds `amountCents`, or (null) all that is left. */
  refund(id: string, amountCents: number | null): Promise<Order> {
    return this.#inTurn(id, order => this.#send(order, withRefund(order, amountCents)))
  }

  /** Reads the payment of an order: a webhook is only a hint, and may come late or twice. */
  refresh(id: string, source: 'webhook' | 'read'): Promise<Order> {
    return this.#inTurn(id, async order => {
      const { pending, payment } = order
      // A request without a known answer is sent again. Its key makes that idempotent.
      const answer =
        pending === null
          ? payment && (await readPayment(this.#client, payment.id))
          : await sendRequest(this.#client, pending)
      return answer === null ? order : this.#keep(afterAnswer(order, answer, source))
    })
  }

  /** Refreshes every order in doubt, in case webhooks are late or missing. */
  async refreshUnsettled(): Promise<void> {
    const idle = [...this.#orders.values()].filter(order => !isSettled(order) && !this.#turns.has(order.id))
    await Promise.all(idle.map(({ id }) => this.refresh(id, 'read')))
  }

  async #send(order: Order, next: ReturnType<typeof withPayment>): Promise<Order> {
    if (next === null) return order
    // Stored before it is sent, so that the same request can be repeated after any failure.
    this.#keep(next)
    return this.#keep(afterAnswer(next, await sendRequest(this.#client, next.pending), 'answer'))
  }

  /** One piece of work at a time for each order, so that an old answer cannot overwrite a new one. A real shop locks the row. */
  #inTurn(id: string, work: (order: Order) => Promise<Order>): Promise<Order> {
    const before = this.#turns.get(id) ?? Promise.resolve()
    const turn = before.then(() => work(this.#current(id)))
    const over = turn.then(
      () => undefined,
      () => undefined
    )
    this.#turns.set(id, over)
    void over.then(() => this.#turns.get(id) === over && this.#turns.delete(id))
    return turn
  }

  #current(id: string): Order {
    const order = this.#orders.get(id)
    if (order === undefined) throw new Error(`There is no order ${id}.`)
    return order
  }

  #keep(order: Order): Order {
    this.#orders.set(order.id, order)
    return order
  }
}
