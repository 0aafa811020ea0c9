/**
 * One command, from the stream to its committed result: decide, commit, then act, turn by turn.
 *
 * The intent is durable before a call is sent. The last commit also stores the result, acknowledges the command and wakes
 * the waiting request. Safe to run again with the same entry, at any time, in any worker: a begun call is reconciled,
 * and a late commit meets another version.
 */
import type { Payment, RefusalCode } from '../../machines/model.js'
import { type Decision, decide, isUnderWay, type WakeTimes, wakeTimes } from '../../machines/payment/decide.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { isLookedAtFirst, unsentEvent } from '../../machines/payment/unvouched.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import { isRedisUnavailable, isRefusal } from '../../redis/connection/redis-errors.js'
import { partitionOfPayment, paymentIdOfKey } from '../../redis/keys.js'
import type { CommitOutcome } from '../../redis/payments/commits.js'
import { decodePayment, encodePayment } from '../../redis/payments/payment-record.js'
import { delay } from '../../runtime/delay.js'
import { firstEvent } from './first-event.js'
import { noteDecline } from './note-decline.js'
import { perform } from './perform.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

/** Bounds a loop: no path of the chart needs more turns within one command. */
const TURNS_MAX = 12
const COMMIT_RETRY_MS = 100

const NO_WAKE_UP: WakeTimes = { expiryAtMs: null, reconcileAtMs: null }

type Taken = Extract<Decision, { kind: 'taken' }>

/** The lock was lost before the work was done: the command is requeued and reconciled. */
export class LockLost extends Error {}

/**
 * The network gave an answer that the payment does not take in its state. If the command ended here, no command would
 * work on the payment. So it is requeued and redelivered, and the network is asked.
 */
class OutcomeNotTaken extends Error {
  constructor({ terms, progress }: Payment, event: PaymentEvent) {
    super(`The payment ${terms.id} is ${progress.status} and does not take ${event.type} as an answer.`)
  }
}

/**
 * Runs a command to its end under the lock, or leaves it when another worker has it by now. Rejects with `LockLost`, and
 * when a Redis is unavailable. `onBegin` runs before anything is changed or sent: a command that fails earlier is not begun.
 */
export async function runCommand(
  entry: CommandEntry,
  deps: WorkerDeps,
  held: AbortSignal,
  onBegin: () => void
): Promise<void> {
  const start = await startOf(entry, deps)
  if (start === null) return await endUnneeded(entry, deps)
  let { payment, event } = start
  let isOutcome = false
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const policy = policyFor(entry.partition, deps)
    const isLookFirst = isLookedAtFirst(payment, event, policy)
    const decision = decide(payment, event, policy)
    if (decision.kind === 'refused') {
      deps.inspection?.decided(payment, event, decision)
      if (isOutcome && isUnderWay(payment.progress)) throw new OutcomeNotTaken(payment, event)
      return await finishRefused(entry, decision.code, isOutcome, deps)
    }
    const { effect, problem } = decision
    if (problem !== null) deps.log.error({ payment_id: payment.terms.id, problem }, 'a payment is listed for review')
    if (!decision.isChanged && effect === null) return await deps.commits.finish(entry, null)

    if (decision.isChanged) {
      onBegin()
      const written = await commitSurely(decision, event.nowMs, entry, isOutcome, deps)
      if (written === 'taken_over') return
      if (written === 'answered') return await deps.commits.finish(entry, null)
      if (written === 'version_conflict') {
        const again = await afterConflict(entry, isOutcome, deps)
        if (again === null) return await endUnneeded(entry, deps)
        ;({ payment, event } = again)
        continue
      }
    }
    deps.inspection?.decided(payment, event, decision)
    if (effect === null) return
    if (held.aborted) throw new LockLost(`The lock of the payment ${payment.terms.id} was lost.`)
    payment = decision.payment
    event = isLookFirst
      ? unsentEvent(event.nowMs)
      : notBefore(event.nowMs, await perform(effect, payment, entry, deps, held, onBegin))
    isOutcome = true
  }
  throw new Error(`The payment ${payment.terms.id} did not end its command within ${TURNS_MAX} turns.`)
}

/**
 * The event with a time not before `nowMs`, when its call began: the clock that fired a wake-up may be ahead of ours, and
 * the horizon must not count from before the call.
 */
function notBefore(nowMs: number, outcome: PaymentEvent): PaymentEvent {
  return { ...outcome, nowMs: Math.max(nowMs, outcome.nowMs) }
}

/** What a command begins with. */
interface Start {
  readonly payment: Payment
  readonly event: PaymentEvent
}

/**
 * Where a command starts. AUTHORISE and OVERDUE say that nothing was sent before: that is true for the delivery that marks
 * the payment as begun, and for no other. Null: there is nothing left to do, or another worker has the command.
 */
async function startOf(entry: CommandEntry, deps: WorkerDeps): Promise<Start | null> {
  for (let read = entry; ; read = { ...entry, accepted: null }) {
    const start = await loadPaymentAndEvent(read, deps)
    if (start === null || (start.event.type !== 'AUTHORISE' && start.event.type !== 'OVERDUE')) return start
    const begun = await deps.commits.begin(entry, start.payment.version)
    if (begun === 'begun') return start
    if (begun === 'begun_before') return { ...start, event: { type: 'RESUMED', nowMs: start.event.nowMs } }
    if (begun === 'taken_over') return null
  }
}

/** Ends a command that has nothing to do. `timers` left the time of a wake-up in its list, in case it was lost. */
async function endUnneeded(entry: CommandEntry, deps: WorkerDeps): Promise<void> {
  if (entry.command.kind !== 'wake') return await deps.commits.finish(entry, null)
  const payment = await deps.payments.load(entry.partition, entry.paymentKey)
  const { expiryAtMs, reconcileAtMs } = payment === null ? NO_WAKE_UP : wakeTimes(payment.progress, 0)
  if (expiryAtMs !== null || reconcileAtMs !== null) return await deps.commits.finish(entry, null)
  await deps.commits.endWakeUp(entry, payment?.version ?? null)
}

/** Loads the payment of a command and the event that the command is for it. Null: there is nothing left to do. */
export async function loadPaymentAndEvent(entry: CommandEntry, deps: WorkerDeps): Promise<Start | null> {
  const payment =
    entry.accepted === null
      ? await deps.payments.loadForChange(entry.partition, entry.paymentKey)
      : decodePayment(entry.accepted, entry.paymentKey)
  if (payment === null) {
    // Neither Redis nor the archive loses payments: this Redis was restored from a backup that is older than the network's records.
    deps.log.error(
      { payment_id: paymentIdOfKey(entry.paymentKey), command: entry.command.kind },
      'a command is about a payment that is not stored here'
    )
    return null
  }
  const nowMs = Math.max(timeFor(payment, deps), entry.dueAtMs ?? 0)
  const event = firstEvent(payment, entry, nowMs, policyFor(entry.partition, deps))
  return event === null ? null : { payment, event }
}

/**
 * The time of the next event of a payment: not before the last one, which another worker may have written by a clock that
 * is ahead. Merchants may order the events of a payment by `occurred_at`. Nor before data came back that nothing vouches for.
 */
export function timeFor(
  { terms, history }: Payment,
  { clock, unvouchedBeforeMs }: Pick<WorkerDeps, 'clock' | 'unvouchedBeforeMs'>
): number {
  const backMs = unvouchedBeforeMs?.(partitionOfPayment(terms.id)) ?? 0
  return Math.max(clock.now(), history.at(-1)?.atMs ?? terms.createdAtMs, backMs)
}

/** A refused request of a merchant has a result; a refused outcome of a call has none. */
async function finishRefused(
  entry: CommandEntry,
  code: RefusalCode,
  isOutcome: boolean,
  deps: WorkerDeps
): Promise<void> {
  const isAnswer = entry.record !== null && !isOutcome
  await deps.commits.finish(entry, isAnswer ? { kind: 'refused', code } : null)
}

/**
 * Another worker changed the payment. A command is decided again on the current payment. A late outcome may be money, so
 * the payment is reconciled. So is a payment that still waits for this outcome: no other wake-up would reach it.
 */
async function afterConflict(entry: CommandEntry, isOutcome: boolean, deps: WorkerDeps): Promise<Start | null> {
  if (!isOutcome) return await startOf({ ...entry, accepted: null }, deps)
  const payment = await deps.payments.loadForChange(entry.partition, entry.paymentKey)
  if (payment === null) return null
  deps.log.warn({ payment_id: payment.terms.id }, 'an outcome met a newer version, the network is asked')
  return {
    payment,
    event: { type: isUnderWay(payment.progress) ? 'RESUMED' : 'RECONCILE', nowMs: timeFor(payment, deps) }
  }
}

/** Repeats a commit whose outcome is unknown until it is known. Our own change, found stored, is not a conflict. */
async function commitSurely(
  decision: Taken,
  nowMs: number,
  entry: CommandEntry,
  isOutcome: boolean,
  deps: WorkerDeps
): Promise<CommitOutcome> {
  const { payment, statusBefore, operationResult, effect } = decision
  const write = {
    payment,
    statusBefore,
    operationResult,
    nowMs,
    wake: wakeTimes(payment.progress, nowMs),
    ends: effect === null ? entry : null,
    // The outcome of a call is written even after a takeover; a command that has not begun is left to its owner.
    begins: isOutcome ? null : entry
  }
  await noteDecline(payment, deps)
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      const written = await deps.commits.commit(write, entry.partition)
      return written === 'version_conflict' && isRepeat && (await isStored(payment, entry, deps))
        ? 'committed'
        : written
    } catch (error) {
      if (!isRedisUnavailable(error) && !isRefusal(error)) throw error
      await delay(COMMIT_RETRY_MS)
    }
  }
}

async function isStored(payment: Payment, entry: CommandEntry, deps: WorkerDeps): Promise<boolean> {
  const stored = await deps.payments.load(entry.partition, entry.paymentKey)
  return stored !== null && encodePayment(stored) === encodePayment(payment)
}
