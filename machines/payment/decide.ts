/**
 * The one place where a payment moves: `decide(payment, event, policy)`.
 *
 * Pure. classify.ts compares the event with the payment, then the chart decides. The answer is either a refusal (nothing
 * changes) or the next payment, at most one effect for the worker, and what the commit needs: the status before and the
 * result of the merchant's command.
 */
import type { StateFrom } from 'xstate'
import type { CommandResult } from '../commands.js'
import {
  isOpen,
  type Payment,
  type PaymentPhase,
  type PaymentPlace,
  type PaymentProgress,
  type PaymentStatus,
  type PaymentTerms,
  placeOf,
  type RefusalCode,
  type SaleVoids
} from '../model.js'
import { pureStepOf } from '../pure-transition.js'
import { classify } from './classify.js'
import type { PaymentContext } from './context.js'
import type { Effect, LifecycleEvent, PaymentEvent } from './events.js'
import { addLine, lineOf } from './history.js'
import { isInFlight, paymentMachine, requireKnownPlace } from './machine.js'
import type { Policy } from './policy.js'
import { refusalOf } from './refusals.js'
import { TRIES_MAX, withVoid } from './tries.js'

type Snapshot = StateFrom<typeof paymentMachine>

const takeStep = pureStepOf(paymentMachine)

/** The request whose operation ends with a decision, and the result to keep with its key. */
export interface OperationResult {
  readonly idempotencyKey: string
  readonly result: CommandResult
}

export type Decision =
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | {
      readonly kind: 'taken'
      /** What the event meant: the name of the line in the history. */
      readonly event: LifecycleEvent['type']
      readonly payment: Payment
      /** false: nothing to commit. The effect, if any, is a query, or the authorisation that was accepted. */
      readonly isChanged: boolean
      readonly effect: Effect | null
      readonly statusBefore: PaymentStatus
      readonly operationResult: OperationResult | null
      /** For the log: a mistake of this service that was kept from the amounts. */
      readonly problem: string | null
    }

/** Decides about one event. Throws only for a stored payment whose place the chart does not know: `WrittenByOtherVersion`. */
export function decide(payment: Payment, happened: PaymentEvent, policy: Policy): Decision {
  const snapshot = snapshotOf(payment, policy)
  const event = classify(payment, happened, policy)
  const step = event === null ? null : takeStep(snapshot, event)
  if (event === null || step === null) return { kind: 'refused', code: refusalOf(payment, happened) }
  const { next, actions } = step
  const place = placeIn(next)
  // All actions that change no facts are effects, and a transition has one at most (effects.ts).
  const effect = (actions[0]?.params as Effect | undefined) ?? null
  const voids = voidsAfter(snapshot.context.facts.voids, event, effect)
  const isChanged =
    voids !== snapshot.context.facts.voids ||
    next.context.facts !== snapshot.context.facts ||
    place.status !== payment.progress.status ||
    place.phase !== payment.progress.phase
  // Named, not spread: V8 copies a second spread property by property, which took 6 us (measured).
  const moved: PaymentProgress = { status: place.status, phase: place.phase, ...next.context.facts }
  const reviewed = withoutMootReview(moved)
  const progress = voids === moved.voids ? reviewed : { ...reviewed, voids }
  if (!addsUp(payment.terms, progress)) return notTaken(payment, event)
  return {
    kind: 'taken',
    event: event.type,
    payment: isChanged
      ? { ...payment, version: payment.version + 1, progress, history: addLine(payment.history, lineOf(event, place)) }
      : payment,
    isChanged,
    effect,
    statusBefore: payment.progress.status,
    operationResult: isOpen(payment.progress.operation) ? operationResultOf(progress) : null,
    problem: null
  }
}

/**
 * `poisoned` says that a command failed, and nothing of the payment. When the acquirer has told how it ended, there is nothing
 * to look at: the command itself is a dead letter.
 */
function withoutMootReview(progress: PaymentProgress): PaymentProgress {
  const { reviewReason, reconciliation, verification } = progress
  const isInDoubt = reconciliation !== null || verification !== null || isInFlight(progress)
  return reviewReason !== 'poisoned' || isInDoubt ? progress : { ...progress, reviewReason: null }
}

/** The invariant of money (docs/DESIGN.md, 1). The chart keeps it; this is the proof at the place where it is decided. */
function addsUp(
  { amountCents }: PaymentTerms,
  { refundedCents, capturedCents }: Pick<PaymentProgress, 'refundedCents' | 'capturedCents'>
): boolean {
  return 0 <= refundedCents && refundedCents <= capturedCents && capturedCents <= amountCents
}

const NOT_TAKEN = 'not taken: the amounts would not add up'

/** Keeps the amounts as they are, sends nothing, and lists the payment for manual review; a request is refused. */
function notTaken(payment: Payment, event: LifecycleEvent): Decision {
  if (event.type === 'CAPTURE') return { kind: 'refused', code: 'amount_exceeds_authorized' }
  if (event.type === 'CANCEL') return { kind: 'refused', code: 'amount_exceeds_refundable' }
  const { progress, history, version } = payment
  const line = { ...lineOf(event, progress), detail: NOT_TAKEN }
  const listed = { ...progress, reviewReason: progress.reviewReason ?? 'figures_differ' } as const
  return {
    kind: 'taken',
    event: event.type,
    payment: { ...payment, version: version + 1, progress: listed, history: addLine(history, line) },
    isChanged: true,
    effect: null,
    statusBefore: progress.status,
    operationResult: null,
    problem: `${event.type} ${NOT_TAKEN}`
  }
}

/** From the decision to send a void until it has left (ms). */
const LEAVES_WITHIN_MS = 1_000

/** Counts the whole voids of all transitions: the acquirer limits how soon one of a sale may follow another. */
function voidsAfter(voids: readonly SaleVoids[], event: LifecycleEvent, effect: Effect | null): readonly SaleVoids[] {
  if (effect?.kind === 'void') return withVoid(voids, effect.saleId, event.nowMs + LEAVES_WITHIN_MS)
  const isOver = event.type === 'RECORD_LAGS' && event.because === 'void_is_over'
  const [last, ...ofOthers] = voids
  return last !== undefined && isOver ? [{ ...last, times: TRIES_MAX }, ...ofOthers] : voids
}

function snapshotOf(payment: Payment, policy: Policy): Snapshot {
  const { status, phase, ...facts } = payment.progress
  const context: PaymentContext = { terms: payment.terms, facts, policy }
  const name = placeOf(payment.progress)
  let place = places.get(name)
  if (place === undefined) {
    requireKnownPlace(payment)
    place = paymentMachine.resolveState({ value: phase === null ? status : { [status]: phase }, context })
    places.set(name, place)
  }
  return { ...place, context }
}

/** A snapshot of each place, resolved once: to resolve one takes as long as the transition itself (measured). */
const places = new Map<string, Snapshot>()

function placeIn(snapshot: Snapshot): PaymentPlace {
  const value: unknown = snapshot.value
  if (typeof value === 'string') return { status: value as PaymentStatus, phase: null }
  const [place] = Object.entries(value as Record<string, string>)
  if (place === undefined) throw new Error('unreachable: a chart without a state')
  return { status: place[0] as PaymentStatus, phase: place[1] as PaymentPhase }
}

/** The result of an operation that was open before the decision; null while it still is. */
function operationResultOf(progress: PaymentProgress): OperationResult | null {
  const { operation, error } = progress
  if (isOpen(operation)) return null
  const result: CommandResult =
    operation.state === 'succeeded'
      ? { kind: 'succeeded', progress }
      : { kind: 'failed', code: error ?? 'provider_rejected' }
  return { idempotencyKey: operation.idempotencyKey, result }
}
