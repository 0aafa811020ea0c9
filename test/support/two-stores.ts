/** Redis and an archive in memory as one store, for a `describe`, and payments that leave. */
import { withArchive } from '../../archive/payment-store.js'
import type { Payment, PaymentStatus } from '../../machines/model.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { removePayments } from '../../redis/payments/archive-moves.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { storePayment } from './listed-payments.js'
import { MemoryArchive } from './memory-archive.js'
import { CREATED_MS, PARTITION } from './payments.js'
import { type TestRedis, useRedis } from './redis.js'

export interface TwoStores {
  readonly test: TestRedis
  readonly archive: MemoryArchive
  readonly store: PaymentStore
  /** The methods of the archive that the store called. */
  readonly asked: readonly string[]
  /** What Redis alone has. */
  inRedis(payment: Payment): Promise<Payment | null>
  /** A payment that was created `afterMs` after `CREATED_MS`. */
  stored(afterMs: number, status?: PaymentStatus, saleId?: string): Promise<Payment>
  /** Resolves to the number of those that left Redis. */
  moveOut(...payments: Payment[]): Promise<number>
}

/** Call it inside a `describe`: both are empty before each test. */
export function useTwoStores(): TwoStores {
  const test = useRedis()
  const stores: TwoStores & { archive: MemoryArchive; store: PaymentStore; asked: string[] } = {
    test,
    archive: new MemoryArchive(),
    get store() {
      return store
    },
    asked: [],
    inRedis: ({ terms }) => createPaymentStore(unreplicated(test.redis)).load(PARTITION, paymentKeyOf(terms.id)),
    async stored(afterMs, status = 'captured', saleId) {
      const wanted = { atMs: CREATED_MS + afterMs, status, ...(saleId === undefined ? {} : { saleId }) }
      const payment = await stores.inRedis(await storePayment(test.redis, wanted))
      if (payment === null) throw new Error('The payment was not stored.')
      return payment
    },
    async moveOut(...payments) {
      await stores.archive.put(payments)
      return await removePayments(unreplicated(test.redis), PARTITION, payments)
    }
  }
  let store: PaymentStore
  beforeEach(async () => {
    await test.redis.flushdb()
    stores.archive = new MemoryArchive()
    stores.asked = []
    store = withArchive(createPaymentStore(unreplicated(test.redis)), noting(stores.archive, stores.asked), {
      writes: unreplicated(test.redis)
    })
  })
  return stores
}

function noting(archive: MemoryArchive, asked: string[]): MemoryArchive {
  return new Proxy(archive, {
    get: (target, name: keyof MemoryArchive) => {
      const member = target[name]
      if (typeof member !== 'function') return member
      return (...given: never[]) => {
        asked.push(name)
        return (member as (...args: never[]) => unknown).apply(target, given)
      }
    }
  })
}
