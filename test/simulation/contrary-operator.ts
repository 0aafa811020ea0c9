/** The operator of a contrary world: works off the list of payments that need a person, by what the acquirer has truly booked. */
import { type PaymentProgress, placeOf } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { concludeOperation } from '../../redis/operator/review.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import type { ContraryAcquirer } from '../support/contrary-acquirer.js'
import { Wire } from '../support/contrary-wire.js'
import { type Lives, RELEASE } from './contrary-lives.js'
import type { Installation } from './simulated-installation.js'
import { untilDone } from './stage.js'
import type { Process, World } from './world.js'

export interface Conclusion {
  readonly paymentId: string
  /** Of the operation that is concluded. */
  readonly key: string
  readonly isBooked: boolean
  /** Said before, one horizon ago. */
  readonly isRepeated: boolean
  readonly atMs: number
}

const LOOKS_AFTER_MAX_MS = 7_200_000
const LOOKS_MAX = 12
const REPEATED_AFTER_MS = 5_000
const IN_DOUBT = ['unknown', 'failed.watched', 'expired.releasing']

/** Some time after a payment is listed, and for as long as it is, the operator concludes what is in doubt. What else it is listed for stays listed. */
export function concludeListed(
  world: World,
  installation: Installation,
  outside: Process,
  { acquirer, lives }: { acquirer: ContraryAcquirer; lives: Lives }
): Conclusion[] {
  const conclusions: Conclusion[] = []
  const redis = installation.connect(outside, installation.durable)
  const conclude = async (paymentId: string): Promise<boolean> => {
    const paymentKey = paymentKeyOf(paymentId)
    const text = installation.durable.data.text(keys.payment(partitionOfPayment(paymentId), paymentKey))
    const { progress } = decodePayment(text ?? '', paymentKey)
    const place = placeOf(progress)
    if (progress.phase !== 'reconciling' && !IN_DOUBT.includes(place)) return false
    const isAuthorisation = place === 'unknown' || place === 'failed.watched'
    // As docs/PAYMENTS.md says: the acquirer voids what it has of a sale that the service does not know.
    if (isAuthorisation) voidByHand(acquirer, paymentId)
    const isBooked = !isAuthorisation && isBookedInTruth(acquirer, paymentId, progress, lives)
    const key = place === 'expired.releasing' ? RELEASE : progress.operation.idempotencyKey
    const isRepeated = conclusions.some(earlier => earlier.paymentId === paymentId && earlier.key === key)
    world.note('concluded', `${place} ${paymentId} ${isBooked ? 'booked' : 'not booked'}`)
    conclusions.push({ paymentId, key, isBooked, isRepeated, atMs: world.nowMs })
    await untilDone(world, () => concludeOperation(redis, paymentId, isBooked))
    return true
  }
  const isListed = (paymentId: string): boolean => lives.payments.get(paymentId)?.listed.at(-1)?.untilMs === null
  const workOn = async (paymentId: string): Promise<void> => {
    for (let look = 0; look < LOOKS_MAX && isListed(paymentId); look++) {
      await world.pause(world.random.between(1_000, LOOKS_AFTER_MAX_MS))
      // Too early, it may be refused: it is repeated after the horizon.
      if (!(await conclude(paymentId))) continue
      await world.pause(installation.config.notFoundHorizonMs + REPEATED_AFTER_MS)
      await conclude(paymentId)
    }
  }
  lives.onListed = paymentId => world.spawn(outside, () => void workOn(paymentId))
  return conclusions
}

function voidByHand(acquirer: ContraryAcquirer, paymentId: string): void {
  for (const sale of acquirer.ofOrder(orderIdOf(paymentId))) {
    if (sale.status !== Wire.authorised && sale.status !== Wire.captured) continue
    const voidedCents = sale.capturedCents || sale.amountCents
    acquirer.book({ ...sale, status: Wire.voided, voidedCents })
  }
}

/** What the acquirer has booked of the operation, or of the release of the hold. */
function isBookedInTruth(
  acquirer: ContraryAcquirer,
  paymentId: string,
  progress: PaymentProgress,
  lives: Lives
): boolean {
  const sale = acquirer.sales.get(progress.references.saleId ?? '')
  if (sale === undefined) return false
  const { operation } = progress
  const isVoided = sale.status === Wire.voided || sale.status === Wire.refunded
  if (placeOf(progress) === 'expired.releasing' || operation.kind === 'cancel') return isVoided
  if (operation.kind === 'capture') return sale.capturedCents === operation.amountCents
  const beganMs = lives.payments.get(paymentId)?.operations.get(operation.idempotencyKey)?.beganMs ?? 0
  return acquirer.calls.some(
    call => call.verb === 'void' && call.saleId === sale.saleId && call.atMs >= beganMs && call.bookedCents > 0
  )
}
