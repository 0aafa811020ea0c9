/**
 * One command, from the stream to its committed result: decide, commit, then act, turn by turn.
 *
 * The intent is durable before a call is sent. The last commit also stores the result, acknowledges the command and wakes
 * the waiting request. Safe to run again with the same entry, at any time, in any worker: a begun call is reconciled,
 * and a late commit meets another version.
 */
import type { Payment, RefusalCode } from '../../machines/model.js'
import { type Decision, decide } from '../../machines/payment/decide.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { isInFlight } from '../../machines/payment/machine.js'
import { isComparedFirst, unsentEvent } from '../../machines/payment/unvouched.js'
import { needsWakeUp, wakeTimes } from '../../machines/payment/wake-ups.js'
import { isRedisUnavailable, isWrongType } from '../../redis/connection/redis-errors.js'
import { outagePauseMs } from '../../redis/connection/until-answered.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import type { CommitOutcome } from '../../redis/payments/commits.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { delay } from '../../runtime/delay.js'
import type { Write } from './command-recorder.js'
import { type CommandRun, LockLost } from './command-run.js'
import { startAfterConflict, startOf, type Turn } from './command-start.js'
import { noteDecline } from './note-decline.js'
import { perform } from './perform.js'
import { policyFor } from './worker-deps.js'

/** Bounds a loop: no path of the chart needs more than 12 turns. Without locks each conflict with another worker costs two more. */
const TURNS_MAX = 60

type Taken = Extract<Decision, { kind: 'taken' }>

/**
 * The network gave an answer that the payment does not take in its state. If the command ended here, no command would
 * work on the payment. So it is requeued and redelivered, and the payment is reconciled.
 */
class OutcomeNotTaken extends Error {
  constructor({ terms, progress }: Payment, event: PaymentEvent) {
    super(`The payment ${terms.id} is ${progress.status} and does not take ${event.type} as an answer.`)
  }
}

/**
 * Runs a command to its end under the lock, or leaves it when another worker has it by now. Rejects with `LockLost`, and
 * when a Redis is unavailable.
 */
export async function runCommand(run: CommandRun): Promise<void> {
  const { entry, deps } = run
  let turn = await turnOrEnd(await startOf(entry, deps), run)
  for (let turns = 0; turn !== null; turns++) {
    if (turns === TURNS_MAX) {
      const paymentId = paymentIdOfKey(entry.paymentKey)
      throw new Error(`The payment ${paymentId} did not end its command within ${TURNS_MAX} turns.`)
    }
    turn = await takeTurn(turn, run)
  }
}

/** Ends a command that has nothing to start with. */
async function turnOrEnd(start: Turn | null, run: CommandRun): Promise<Turn | null> {
  if (start === null) await endUnneeded(run)
  return start
}

/** Decides, commits and acts once. Null: the command has ended, or another worker has it. */
async function takeTurn(turn: Turn, run: CommandRun): Promise<Turn | null> {
  const { payment, event, isOutcome } = turn
  const { entry, deps, recorder, lease } = run
  const policy = policyFor(entry.partition, deps)
  const mustCompareFirst = isComparedFirst(payment, event, policy)
  const decision = decide(payment, event, policy)
  if (decision.kind === 'refused') {
    deps.inspection.decided(payment, event, decision)
    if (isOutcome && isInFlight(payment.progress)) throw new OutcomeNotTaken(payment, event)
    return await finishRefused(decision.code, turn, run)
  }
  const { effect } = decision
  if (decision.isChanged) {
    const written = await writeDecision(decision, turn, run)
    if (written === 'version_conflict') return await turnOrEnd(await startAfterConflict(entry, isOutcome, deps), run)
    if (written === 'answered') await recorder.finish()
    if (written !== 'committed') return null
  } else if (effect === null) {
    await recorder.finish()
    return null
  }
  deps.inspection.decided(payment, event, decision)
  if (effect === null) return null
  if (lease.isLost()) throw new LockLost(`The lock of the payment ${payment.terms.id} was lost.`)
  const outcome = mustCompareFirst ? unsentEvent(event.nowMs) : await perform(effect, decision.payment, run)
  return { payment: decision.payment, event: notBefore(event.nowMs, outcome), isOutcome: true }
}

/** Commits a decision. */
async function writeDecision(decision: Taken, { event, isOutcome }: Turn, run: CommandRun): Promise<CommitOutcome> {
  const { entry, deps } = run
  const { payment, statusBefore, operationResult, effect, problem } = decision
  if (problem !== null)
    deps.log.error({ payment_id: payment.terms.id, problem }, 'found a payment that needs manual review')
  const wake = wakeTimes(payment, event.nowMs, policyFor(entry.partition, deps))
  const write = {
    payment,
    statusBefore,
    operationResult,
    nowMs: event.nowMs,
    wake,
    ends: effect === null ? entry : null,
    // The outcome of a call is written even after a takeover; a command that has not begun is left to its owner.
    begins: isOutcome ? null : entry
  }
  await noteDecline(payment, deps)
  return await commitSurely(write, run)
}

/**
 * The event with a time not before `nowMs`, when its call began: the clock that fired a wake-up may be ahead of ours, and
 * the horizon must not count from before the call.
 */
function notBefore(nowMs: number, outcome: PaymentEvent): PaymentEvent {
  return { ...outcome, nowMs: Math.max(nowMs, outcome.nowMs) }
}

/** Ends a command that has nothing to do. `timers` left the time of a wake-up in its list, in case it was lost. */
async function endUnneeded({ entry, deps, recorder }: CommandRun): Promise<void> {
  if (entry.command.kind !== 'wake') return await recorder.finish()
  const payment = await deps.payments.load(entry.partition, entry.paymentKey)
  if (payment !== null && needsWakeUp(payment, policyFor(entry.partition, deps))) return await recorder.finish()
  await deps.commits.endWakeUp(entry, payment?.version ?? null)
}

/** A refused request of a merchant has a result; a refused outcome of a call has none. */
async function finishRefused(code: RefusalCode, turn: Turn, run: CommandRun): Promise<Turn | null> {
  const { entry, recorder, deps } = run
  if (entry.idempotencyRecordId === null || turn.isOutcome) {
    await recorder.finish()
    return null
  }
  if (await recorder.refuse(code, turn.payment)) return null
  return await turnOrEnd(await startAfterConflict(entry, false, deps), run)
}

/** Repeats a commit whose outcome is unknown until it is known. Our own change, found stored, is not a conflict. */
async function commitSurely(write: Write, run: CommandRun): Promise<CommitOutcome> {
  for (let tries = 0; ; tries++) {
    try {
      const written = await run.recorder.commit(write)
      run.onBegin()
      return written === 'version_conflict' && tries > 0 && (await isStored(write.payment, run)) ? 'committed' : written
    } catch (error) {
      // commit.lua writes the payment last: a first try that met a key of a wrong type has changed nothing.
      if (tries > 0 || !isWrongType(error)) run.onBegin()
      if (!isRedisUnavailable(error)) throw error
      await delay(outagePauseMs(tries))
    }
  }
}

async function isStored(payment: Payment, { entry, deps }: CommandRun): Promise<boolean> {
  const stored = await deps.payments.load(entry.partition, entry.paymentKey)
  return stored !== null && encodePayment(stored) === encodePayment(payment)
}
