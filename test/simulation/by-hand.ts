/**
 * What people do to a sale beside the service (`--by-hand`): a user of the acquirer's portal captures, voids or refunds
 * it, and an operator of the service works off the list of payments that need a person.
 */
import type { PaymentProgress } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { keys, partitionNumbers, partitionOfPayment, paymentIdOfKey } from '../../redis/keys.js'
import { concludeOperation, resolveReview } from '../../redis/operator/review.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { type LedgerSale, LedgerStatus } from '../../scripts/simulator/ledger.js'
import type { Installation } from './simulated-installation.js'
import { report, type Stage } from './stage.js'
import type { Process, World } from './world.js'

const OPERATOR_LOOKS_EVERY_MS = 15_000
/** How often a captured sale gets another captured amount, instead of being refunded. */
const CORRECTED = 0.3
/** How often the record does not show at once what was done by hand. */
const BOOKS_BEHIND = 0.5

/** One thing that a person may do to the sale as it stands. The network says that something happened to it. */
export async function touchSale(stage: Stage, paymentId: string): Promise<void> {
  const [sale] = stage.installation.network.ledger.ofOrder(orderIdOf(paymentId))
  const touched = sale === undefined ? null : touch(stage.world, sale)
  if (sale !== undefined && touched !== null) await bookByHand(stage, paymentId, sale, touched)
}

/** Captures all of a hold in the portal; not one that is gone. */
export async function captureByHand(stage: Stage, paymentId: string): Promise<void> {
  const [sale] = stage.installation.network.ledger.ofOrder(orderIdOf(paymentId))
  if (sale?.status !== LedgerStatus.authorised) return
  const captured = { status: LedgerStatus.captured, capturedAmount: sale.amount, capturedAtMs: stage.world.nowMs }
  await bookByHand(stage, paymentId, sale, captured)
}

async function bookByHand(
  stage: Stage,
  paymentId: string,
  sale: LedgerSale,
  touched: Partial<LedgerSale>
): Promise<void> {
  const { world, installation } = stage
  const { ledger } = installation.network
  world.note('by hand', `${JSON.stringify(touched)} ${paymentId}`)
  if (world.random.chance(BOOKS_BEHIND)) {
    world.note('record lags')
    installation.network.keepStale(sale.paymentId)
  }
  ledger.book({ ...sale, ...touched })
  const refundedCents = sale.capturedAmount > 0 ? (touched.voidedAmount ?? sale.voidedAmount) - sale.voidedAmount : 0
  installation.network.noteRefundByHand(sale.paymentId, refundedCents)
  // What a person gives back can't be told from a refund of the service that is in doubt, unless it is reported at once.
  await report(stage, { saleId: sale.paymentId, reported: 'change' }, { isPatient: refundedCents === 0 })
}

function touch({ random, nowMs }: World, sale: LedgerSale): Partial<LedgerSale> | null {
  if (sale.status === LedgerStatus.authorised) {
    return random.pick([
      { status: LedgerStatus.captured, capturedAmount: sale.amount, capturedAtMs: nowMs },
      { status: LedgerStatus.captured, capturedAmount: Math.ceil(sale.amount / 3), capturedAtMs: nowMs },
      { status: LedgerStatus.voided, voidedAmount: sale.amount, voidedAtMs: nowMs }
    ])
  }
  const balance = sale.capturedAmount - sale.voidedAmount
  if (sale.status !== LedgerStatus.captured || balance === 0) return null
  const part = random.pick([balance, Math.ceil(balance / 2), Math.ceil(balance / 5)])
  if (random.chance(CORRECTED)) {
    // Captured with another amount than asked for, which shows only now; more than was refunded of it, at least.
    return { capturedAmount: random.pick([sale.voidedAmount + Math.ceil(balance / 2), sale.amount]) }
  }
  const status = part === balance ? LedgerStatus.voided : LedgerStatus.captured
  return { status, voidedAmount: sale.voidedAmount + part, voidedAtMs: nowMs }
}

/** Looks at every payment that needs a person: ends an operation that can't be decided by the truth, and takes it off the list. */
export async function resolveReviews(world: World, installation: Installation, outside: Process): Promise<void> {
  const redis = installation.connect(outside, installation.durable)
  for (;;) {
    await world.pause(OPERATOR_LOOKS_EVERY_MS)
    try {
      for (const paymentKey of listed(installation)) {
        const paymentId = paymentIdOfKey(paymentKey)
        const key = keys.payment(partitionOfPayment(paymentId), paymentKey)
        const { progress } = decodePayment((await redis.get(key)) ?? '', paymentKey)
        const { phase, operation } = progress
        if (phase !== 'reconciling') {
          if (world.random.chance(0.5)) await resolveReview(redis, paymentId)
          continue
        }
        const sale = installation.network.ledger.find(progress.references.saleId ?? '')
        if (sale === undefined) continue
        world.note('concluded by hand', `${operation.kind} of ${paymentId}`)
        const isBooked = isBookedInTruth(progress, sale, installation)
        await concludeOperation(redis, paymentId, isBooked)
        if (world.random.chance(0.3)) await concludeOperation(redis, paymentId, isBooked)
      }
    } catch {
      // Redis is away: the operator tries again.
    }
  }
}

function isBookedInTruth(
  { operation, refundedCents }: PaymentProgress,
  sale: LedgerSale,
  { network }: Installation
): boolean {
  if (operation.kind === 'capture') return sale.capturedAmount === operation.amountCents
  if (operation.kind === 'cancel') return sale.status === LedgerStatus.voided
  return sale.voidedAmount - network.refundedByHand(sale.paymentId) >= refundedCents + operation.amountCents
}

function listed({ durable, config }: Installation): string[] {
  return partitionNumbers(config.partitions)
    .map(partition => durable.data.values.get(keys.review(partition)))
    .flatMap(value => (value?.type === 'hash' ? [...value.hash.keys()] : []))
}
