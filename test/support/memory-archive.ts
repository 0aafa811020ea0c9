/** The archive in memory. It keeps records as texts, so that no test shares an object with it. */
import type { PaymentArchive } from '../../archive/archive.js'
import { lastChangeMs, type Payment } from '../../machines/model.js'
import { createdAtMs, paymentKeyOf } from '../../redis/keys.js'
import type { ListQuery } from '../../redis/payments/list-payments.js'
import { decodePayment, encodePayment } from '../../redis/payments/payment-record.js'

/** As in archive/postgres-archive.ts. */
const LATER_MS = 3_600_000

export class MemoryArchive implements PaymentArchive {
  /** Payment records by payment id. */
  readonly rows = new Map<string, string>()
  /** Ids of payments that went back to Redis and have not been written since. */
  readonly returned = new Set<string>()

  async put(payments: readonly Payment[]): Promise<void> {
    for (const payment of payments) {
      const { id } = payment.terms
      const row = this.#read(id)
      const isLater = row !== null && lastChangeMs(payment) > lastChangeMs(row) + LATER_MS
      if (row !== null && row.version > payment.version && !isLater) continue
      this.rows.set(id, encodePayment(payment))
      this.returned.delete(id)
    }
  }

  async find(paymentId: string): Promise<Payment | null> {
    return this.#read(paymentId)
  }

  async takeBack(paymentId: string): Promise<Payment | null> {
    if (this.rows.has(paymentId)) this.returned.add(paymentId)
    return this.#read(paymentId)
  }

  async list(query: ListQuery): Promise<{ payments: Payment[]; nextAfterId: string | null }> {
    const ids = [...this.rows.keys()].sort().reverse()
    const fitting = ids.map(id => this.#read(id)).filter(payment => payment !== null && fits(payment, query))
    const payments = fitting.filter(payment => payment !== null).slice(0, query.limit)
    return {
      payments,
      nextAfterId: fitting.length > payments.length ? (payments.at(-1)?.terms.id ?? null) : null
    }
  }

  async findBySale(saleId: string): Promise<string | null> {
    const isOwner = (id: string): boolean =>
      this.#read(id)?.progress.references.saleId?.toLowerCase() === saleId.toLowerCase()
    return [...this.rows.keys()].find(isOwner) ?? null
  }

  async lostOf(paymentIds: readonly string[]): Promise<string[]> {
    return paymentIds.filter(id => !this.rows.has(id))
  }

  #read(paymentId: string): Payment | null {
    const record = this.rows.get(paymentId)
    return record === undefined ? null : decodePayment(record, paymentKeyOf(paymentId))
  }
}

function fits({ terms, progress }: Payment, query: ListQuery): boolean {
  const { merchantId, status, externalReference, afterId, createdFromMs, createdToMs } = query
  const atMs = createdAtMs(terms.id)
  return (
    terms.merchantId === merchantId &&
    (status === null || progress.status === status) &&
    (externalReference === null || terms.externalReference === externalReference) &&
    (afterId === null || terms.id < afterId) &&
    (createdFromMs === null || atMs >= createdFromMs) &&
    (createdToMs === null || atMs < createdToMs)
  )
}
