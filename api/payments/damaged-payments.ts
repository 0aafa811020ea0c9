/**
 * A payment whose record can't be read is reported to the workers: its wake-up becomes a dead letter, which operators see
 * and an alert counts. Until they bring the record back, requests that need it are answered 503.
 */
import { DamagedPayment } from '../../redis/payments/payment-record.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import type { Logger } from '../../runtime/log.js'

/** A bound on memory. Above it, a payment that is read again may be reported again. */
const REMEMBERED_MAX = 1_000

/** The same store, which reports each damaged payment that it meets, once in the life of this process. */
export function reportingDamage(store: PaymentStore, log: Logger): PaymentStore {
  const reported = new Set<string>()
  const report = async (error: unknown): Promise<never> => {
    if (error instanceof DamagedPayment && !reported.has(error.paymentId)) {
      if (reported.size >= REMEMBERED_MAX) reported.clear()
      reported.add(error.paymentId)
      log.error({ err: error, payment_id: error.paymentId }, 'the record of a payment cannot be read')
      // Nothing is due by the time 0: a worker that can read the payment leaves it as it is.
      await store.wake(error.paymentId, 0).catch(() => reported.delete(error.paymentId))
    }
    throw error
  }
  return {
    ...store,
    load: (...query) => store.load(...query).catch(report),
    loadForChange: (...query) => store.loadForChange(...query).catch(report),
    list: (...query) => store.list(...query).catch(report)
  }
}
