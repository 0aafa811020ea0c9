/** Tables of decisions: one event on one payment, and what it changed. */
import { expect } from 'chai'
import type { PaymentProgress, PaymentStatus } from '../../machines/model.js'
import type { Sale } from '../../machines/network.js'
import { refundableCents } from '../../machines/payment/amounts.js'
import { type Decision, decide } from '../../machines/payment/decide.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { wakeAtMs } from '../../machines/payment/wake-ups.js'
import { aDoubt, aPayment, aSale, CREATED_MS, DAY_MS, policy, references } from './payments.js'

/** The moment of the event in these tables, some time after the creation. */
export const NOW = CREATED_MS + 3_600_000
export const KEY = 'key-of-the-operation'

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never
export type EventInput = Without<PaymentEvent, 'nowMs'> & { readonly nowMs?: number }

/** What a decision meant, flat. `wake` is ms from `NOW`; null: no wake-up. */
export interface Meaning {
  readonly refused?: string
  readonly status?: PaymentStatus
  readonly phase?: string | null
  readonly effect?: string | null
  /** The sale of the effect. */
  readonly voided?: string | undefined
  /** Null: all that was asked for. */
  readonly authorised?: number | null
  readonly captured?: number
  readonly refunded?: number
  readonly refundable?: number
  readonly operation?: string
  readonly error?: string | null
  readonly declinedCode?: string | null
  readonly wake?: number | null
  readonly result?: string | null
  readonly reviewReason?: string | null
  /** What is to be verified. */
  readonly reported?: string | null
  readonly isChanged?: boolean
}

/** Figures of a payment in a status, as it gets there without trouble. */
export function inStatus(
  status: PaymentStatus,
  changes: Partial<PaymentProgress> & { mode?: 'auto' | 'manual' } = {}
): { progress: Partial<PaymentProgress>; mode: 'auto' | 'manual' } {
  const { mode = 'auto', ...progress } = changes
  return { mode, progress: { status, ...usual[status], ...progress } }
}

const running = (kind: PaymentProgress['operation']['kind'], amountCents: number): PaymentProgress['operation'] => ({
  kind,
  state: 'in_progress',
  amountCents,
  idempotencyKey: KEY
})
const done = { operation: { ...running('authorization', 1_000), state: 'succeeded' } } as const
const authorised = { ...done, references, authorizedAtMs: CREATED_MS, expiresAtMs: CREATED_MS + 7 * DAY_MS }
const paid = { ...done, references, authorizedAtMs: CREATED_MS, capturedAtMs: CREATED_MS, capturedCents: 1_000 }
const query = aDoubt(NOW - 10_000, { nextAtMs: NOW })

const usual: Record<PaymentStatus, Partial<PaymentProgress>> = {
  pending: { operation: running('authorization', 1_000) },
  unknown: { operation: { ...running('authorization', 1_000), state: 'unknown' }, reconciliation: query },
  pre_authorized: authorised,
  capturing: { ...authorised, phase: 'sending', operation: running('capture', 600) },
  cancelling: { ...authorised, phase: 'sending', operation: running('cancel', 1_000) },
  captured: paid,
  refunding: { ...paid, phase: 'sending', operation: running('refund', 300) },
  partially_refunded: { ...paid, refundedCents: 300 },
  refunded: { ...paid, refundedCents: 1_000 },
  charged_back: paid,
  canceled: authorised,
  expired: { ...authorised, phase: 'releasing' },
  failed: { phase: 'settled', operation: { ...running('authorization', 1_000), state: 'failed' } }
}

/** An operation in doubt: sent ten seconds ago. */
export const inDoubt = (kind: PaymentProgress['operation']['kind'], amountCents: number): Partial<PaymentProgress> => ({
  phase: 'reconciling',
  operation: { ...running(kind, amountCents), state: 'unknown' },
  reconciliation: query
})

/** Beyond the horizon of such a doubt. */
export const LATER = NOW + policy.notFoundHorizonMs

export function found(status: Sale['status'], sale: Partial<Sale> = {}, more: object = {}): EventInput {
  const closed = status === 'voided' ? { voidedCents: sale.capturedCents || 1_000 } : {}
  return { type: 'FOUND', sale: aSale({ status, ...closed, ...sale }), isOther: false, duplicates: [], ...more }
}

/** Decisions by their names: the payment, or its status when it got there without trouble, the event, and what that means. */
export type Rows = Readonly<
  Record<string, readonly [given: PaymentStatus | ReturnType<typeof inStatus>, event: EventInput, means: Meaning]>
>

/** One test for each row, which compares only what the row names. `ofEvents`: the names begin with the type of the event. */
export function describeRows(title: string, rows: Rows, ofEvents = false): void {
  describe(title, () => {
    for (const [name, [given, event, means]] of Object.entries(rows)) {
      const { mode, progress } = typeof given === 'string' ? inStatus(given) : given
      it(ofEvents ? `${event.type}: ${name}` : name, () => {
        const payment = aPayment({ terms: { captureMode: mode }, progress })
        const all = flat(decide(payment, { nowMs: NOW, ...event } as PaymentEvent, policy))
        const names = Object.keys(means) as (keyof Meaning)[]
        expect(Object.fromEntries(names.map(key => [key, all[key]]))).to.deep.equal(means)
      })
    }
  })
}

function flat(decision: Decision): Meaning {
  if (decision.kind === 'refused') return { refused: decision.code }
  const { progress } = decision.payment
  const wake = wakeAtMs(progress)
  const { operationResult, effect } = decision
  return {
    status: progress.status,
    phase: progress.phase,
    effect: effect === null ? null : 'amountCents' in effect ? `${effect.kind} ${effect.amountCents}` : effect.kind,
    voided: effect?.kind === 'void' ? effect.saleId : undefined,
    authorised: progress.authorizedCents,
    captured: progress.capturedCents,
    refunded: progress.refundedCents,
    refundable: refundableCents(progress),
    operation: `${progress.operation.kind} ${progress.operation.state}`,
    error: progress.error,
    declinedCode: progress.declinedCode,
    wake: wake === null ? null : wake - NOW,
    result: operationResult === null ? null : operationResult.result.kind,
    reviewReason: progress.reviewReason,
    reported: progress.verification?.reported ?? null,
    isChanged: decision.isChanged
  }
}
