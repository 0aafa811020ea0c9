/** Payments at chosen times in chosen states, and all pages of a list of them. */
import type { Payment, PaymentStatus } from '../../machines/model.js'
import type { Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { newPaymentId } from '../../redis/keys.js'
import { type CommitOutcome, createCommitStore } from '../../redis/payments/commits.js'
import type { ListQuery } from '../../redis/payments/list-payments.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { anAcceptance, aPayment, createCommand, MERCHANT, PARTITION, references } from './payments.js'

export interface Wanted {
  readonly atMs: number
  readonly status?: PaymentStatus
  readonly externalReference?: string
  readonly saleId?: string
}

/** What `api` and `payments` write of a payment. */
export async function storePayment(redis: Redis, wanted: Wanted): Promise<Payment> {
  const id = newPaymentId(PARTITION, wanted.atMs)
  const { status = 'pending', externalReference = 'a', saleId } = wanted
  const payment = aPayment({ terms: { id, externalReference }, idempotencyKey: id })
  await createPaymentStore(unreplicated(redis)).acceptPayment(
    payment,
    createCommand,
    anAcceptance({ idempotencyKey: id })
  )
  if (status === 'pending') return payment
  await moveTo(redis, payment, status, saleId)
  return payment
}

/** The commit that gives a pending payment another status. */
export function moveTo(redis: Redis, payment: Payment, status: PaymentStatus, saleId?: string): Promise<CommitOutcome> {
  const { version, progress } = payment
  const named = saleId === undefined ? progress.references : { ...references, saleId }
  return createCommitStore(unreplicated(redis)).commit(
    {
      payment: { ...payment, version: version + 1, progress: { ...progress, status, references: named } },
      statusBefore: progress.status,
      wake: { expiryAtMs: null, reconcileAtMs: null },
      operationResult: null,
      nowMs: 0,
      ends: null,
      begins: null
    },
    PARTITION
  )
}

/** The ids of each page, from the first to the last. `between` runs after each page. */
export async function listedPages(
  redis: Redis,
  changes: Partial<ListQuery>,
  between: (page: number) => Promise<unknown> = async () => undefined,
  store: Pick<PaymentStore, 'list'> = createPaymentStore(unreplicated(redis))
): Promise<string[][]> {
  const chosen = { status: null, externalReference: null, createdFromMs: null, createdToMs: null, limit: 2 }
  const all = { partition: PARTITION, merchantId: MERCHANT, ...chosen }
  const pages: string[][] = []
  let afterId: string | null = null
  do {
    const page = await store.list({ ...all, ...changes, afterId })
    pages.push(page.payments.map(({ terms }) => terms.id))
    afterId = page.nextAfterId
    await between(pages.length)
  } while (afterId !== null)
  return pages
}
