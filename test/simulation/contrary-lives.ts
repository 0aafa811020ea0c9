/** What the writes of the service tell of each operation: when it began, was in doubt, and ended; and of each payment, when it was listed. */
import type { Payment } from '../../machines/model.js'
import { isOpen, placeOf } from '../../machines/model.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import type { World } from './world.js'

export interface OperationLife {
  /** Idempotency key of the request; `RELEASE`: the end of a hold that lapsed. */
  readonly key: string
  kind: string
  amountCents: number
  readonly beganMs: number
  doubtMs: number | null
  endedMs: number | null
  isFailed: boolean
}

export interface PaymentLife {
  readonly id: string
  readonly operations: Map<string, OperationLife>
  readonly listed: { readonly fromMs: number; untilMs: number | null }[]
  last: Payment
}

export const RELEASE = 'release of the hold'

export class Lives {
  readonly payments = new Map<string, PaymentLife>()
  /** Receives a payment that is listed now. */
  onListed: (paymentId: string) => void = () => undefined
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Looks at one command that the durable server runs. */
  note([name, key = '', text = '']: readonly string[]): void {
    const paymentKey = name === 'SET' ? /:pay:(.+)$/.exec(key)?.[1] : undefined
    if (paymentKey !== undefined) this.#see(decodePayment(text, paymentKey))
  }

  #see(payment: Payment): void {
    const { id } = payment.terms
    const { progress } = payment
    const { nowMs } = this.#world
    const life: PaymentLife = this.payments.get(id) ?? { id, operations: new Map(), listed: [], last: payment }
    life.last = payment
    this.payments.set(id, life)
    const { operation, reconciliation } = progress
    const isReleasing = placeOf(progress) === 'expired.releasing'
    this.#seeOperation(life, operation.idempotencyKey, {
      ...operation,
      isOpen: isOpen(operation),
      isInDoubt: operation.state === 'unknown',
      isFailed: operation.state === 'failed'
    })
    if (isReleasing || life.operations.has(RELEASE)) {
      const isInDoubt = isReleasing && reconciliation !== null
      const release = { kind: 'cancel', amountCents: payment.terms.amountCents, isFailed: false }
      this.#seeOperation(life, RELEASE, { ...release, isOpen: isReleasing, isInDoubt })
    }
    const open = life.listed.at(-1)
    const isListed = open !== undefined && open.untilMs === null
    if (progress.reviewReason !== null && !isListed) {
      life.listed.push({ fromMs: nowMs, untilMs: null })
      this.#world.note('listed', `${id} ${progress.reviewReason}`)
      this.onListed(id)
    }
    if (progress.reviewReason === null && isListed) open.untilMs = nowMs
  }

  #seeOperation(
    { operations }: PaymentLife,
    key: string,
    seen: { kind: string; amountCents: number; isOpen: boolean; isInDoubt: boolean; isFailed: boolean }
  ): void {
    const { nowMs } = this.#world
    const { kind, amountCents, isFailed } = seen
    const known = operations.get(key)
    const life = known ?? { key, kind, amountCents, beganMs: nowMs, doubtMs: null, endedMs: null, isFailed }
    if (known === undefined) operations.set(key, life)
    Object.assign(life, { kind, amountCents })
    if (seen.isInDoubt) life.doubtMs ??= nowMs
    if (!seen.isOpen) {
      life.endedMs ??= nowMs
      life.isFailed = isFailed
    }
  }
}
