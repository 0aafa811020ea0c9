/**
 * Runs one command under the lock of its payment, and decides what happens when it can't run.
 *
 * - the payment is locked: a command that would be refused is answered at once, any other waits
 * - a Redis is unavailable or refuses a right, or the archive that holds the payment: this worker continues after the outage, which does not
 *   count as a delivery
 * - another version wrote the command or the payment: the command is left to a worker of that version
 * - a stored value is damaged: the command becomes a dead letter at once
 * - anything else fails: the command is requeued, and becomes a dead letter after `deliveriesMax` deliveries
 */
import { ArchiveUnavailable } from '../../archive/archive.js'
import { isOpenFor } from '../../machines/model.js'
import { decide, wakeAtMs, wakeTimes } from '../../machines/payment/decide.js'
import { WrittenByOtherVersion } from '../../machines/written-by-other-version.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import type { DeadLetterDetails } from '../../redis/commands/command-stream.js'
import { isRedisUnavailable, isRefusal } from '../../redis/connection/redis-errors.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { DamagedValue } from '../../redis/stored-fields.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import { eraseBuyer } from './erase-buyer.js'
import type { HandlingOutcome } from './intake.js'
import { KeyElsewhere } from './perform.js'
import { returnEntry } from './return-entry.js'
import { LockLost, loadPaymentAndEvent, runCommand, timeFor } from './run-command.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

const LOCKED_RETRY_MS = 25
const LOCKED_RETRY_MAX_MS = 500
const UNAVAILABLE_RETRY_MS = 200
/** A command that failed waits before its next delivery, so that it does not become a dead letter at once. */
const FAILED_RETRY_MS = 500
const WAITS_FOR_REDIS = 'a Redis is unavailable or refuses its user, the command waits'
const WAITS_FOR_ARCHIVE = 'the archive is unavailable, the command of an archived payment waits'
const LEFT_TO_OTHERS = 'a command is left to workers of another version'
const LEFT_FOR_CLOCK = 'a wake-up waits until the clocks of this machine and of Redis agree'
const LEFT_FOR_KEY = 'a sale is left to workers with the key of its card'
/** The wake-up of a payment whose command became a dead letter fires this much later (ms). */
const DEAD_LETTER_WAKE_MS = 60_000

/**
 * Ends a command, returns it to the stream, or leaves it to the worker that has it by now. Never rejects. `stopping` ends
 * the waiting.
 */
export async function handleCommand(
  first: CommandEntry,
  deps: WorkerDeps,
  stopping: AbortSignal
): Promise<HandlingOutcome> {
  let entry = first
  // The network may have been called: from here on the command counts as begun before, also by this worker.
  const onBegin = (): void => {
    entry = { ...first, delivery: '', deliveryCount: Math.max(first.deliveryCount, 1) }
  }
  const isBegun = (): boolean => entry !== first
  const returnUnended = (move: () => Promise<boolean>): Promise<void> =>
    returnEntry(move, { log: deps.log, ids: idsOf(first), stopping })
  if (first.command.kind === 'wake' && deps.clock.isApart?.() === true) {
    warnRateLimited(deps.log, idsOf(first), LEFT_FOR_CLOCK)
    return 'left'
  }
  let damage: DamagedValue | null = null
  while (!stopping.aborted) {
    try {
      const poison = damage?.message ?? poisonIn(entry, deps)
      if (poison !== null) await deadLetterPoison(entry, poison, deps)
      else if (!(await runWhenFree(entry, deps, stopping, onBegin))) break
      return 'ended'
    } catch (error) {
      if (isRedisUnavailable(error) || isRefusal(error) || error instanceof ArchiveUnavailable) {
        const message = error instanceof ArchiveUnavailable ? WAITS_FOR_ARCHIVE : WAITS_FOR_REDIS
        warnRateLimited(deps.log, { ...idsOf(first), err: error }, message)
        await delay(UNAVAILABLE_RETRY_MS, stopping)
        continue
      }
      if (error instanceof LockLost && !isBegun()) continue
      if ((error instanceof WrittenByOtherVersion || error instanceof KeyElsewhere) && !isBegun()) {
        const message = error instanceof KeyElsewhere ? LEFT_FOR_KEY : LEFT_TO_OTHERS
        warnRateLimited(deps.log, { ...idsOf(first), err: error }, message)
        return 'left'
      }
      if (error instanceof DamagedValue && damage === null) {
        damage = error
        continue
      }
      if (error instanceof LockLost) deps.log.info(idsOf(first), 'the lock was lost, the command is requeued')
      else {
        const context = { ...idsOf(first), err: error, delivery_count: entry.deliveryCount }
        deps.log.error(context, 'the command failed and is requeued')
      }
      await delay(FAILED_RETRY_MS, stopping)
      await returnUnended(() => deps.queue.requeue(entry))
      return 'ended'
    }
  }
  if (!isBegun()) await returnUnended(() => deps.queue.release(first))
  return 'ended'
}

function idsOf({ paymentKey, command, correlationId }: CommandEntry): Readonly<Record<string, string>> {
  const ids = { payment_id: paymentIdOfKey(paymentKey), command: command.kind }
  return correlationId === null ? ids : { ...ids, correlation_id: correlationId }
}

/** False: the worker stopped while the command waited for the lock. */
async function runWhenFree(
  entry: CommandEntry,
  deps: WorkerDeps,
  stopping: AbortSignal,
  onBegin: () => void
): Promise<boolean> {
  for (let pauseMs = LOCKED_RETRY_MS; !stopping.aborted; pauseMs = Math.min(2 * pauseMs, LOCKED_RETRY_MAX_MS)) {
    const outcome = await deps.lock.hold(entry.paymentKey, held =>
      entry.command.kind === 'erase_buyer' ? eraseBuyer(entry, deps, onBegin) : runCommand(entry, deps, held, onBegin)
    )
    if (outcome !== 'taken' || (await refuseNow(entry, deps))) return true
    await delay(pauseMs * (0.5 + Math.random()), stopping)
  }
  return false
}

/** A refusal changes nothing, so it needs no lock: a merchant does not wait for another worker's network call. */
async function refuseNow(entry: CommandEntry, deps: WorkerDeps): Promise<boolean> {
  if (entry.record === null) return false
  const start = await loadPaymentAndEvent(entry, deps)
  if (start === null) {
    await deps.commits.finish(entry, null)
    return true
  }
  const decision = decide(start.payment, start.event, policyFor(entry.partition, deps))
  if (decision.kind !== 'refused') return false
  await deps.commits.finish(entry, { kind: 'refused', code: decision.code })
  return true
}

/**
 * Reconciles the payment, lists it for manual review and moves the command to the dead letters. The payment keeps its
 * wake-up. A request that was never begun has failed: nothing was sent for it.
 */
async function deadLetterPoison(entry: CommandEntry, reason: string, deps: WorkerDeps): Promise<void> {
  const owed = await noteAndOwe(entry, deps)
  deps.log.error({ ...idsOf(entry), reason }, 'a command becomes a dead letter')
  await deps.queue.deadLetter(entry, { reason, nowMs: deps.clock.now(), ...owed })
}

/** Another failure makes it a dead letter. It may have failed before because of another command that ended its worker. */
export function isLastDelivery({ deliveryCount }: CommandEntry, deliveriesMax: number): boolean {
  return deliveryCount > 0 && deliveryCount === deliveriesMax - 1
}

function poisonIn({ deliveryCount }: CommandEntry, { deliveriesMax }: WorkerDeps): string | null {
  return deliveryCount < deliveriesMax ? null : `delivered ${deliveryCount} times without a result`
}

/** A payment that is damaged itself can't be noted: no wake-up helps before an operator has looked at its letter. */
async function noteAndOwe(entry: CommandEntry, deps: WorkerDeps): Promise<Owed> {
  try {
    while (!(await notePoison(entry, deps)));
    return await owedAfterDeadLetter(entry, deps)
  } catch (error) {
    if (!(error instanceof DamagedValue)) throw error
    return { wakeAtMs: 'never', result: null }
  }
}

/** False when another worker wrote the payment meanwhile: read it again. */
async function notePoison(entry: CommandEntry, deps: WorkerDeps): Promise<boolean> {
  const payment = await deps.payments.loadForChange(entry.partition, entry.paymentKey)
  if (payment === null) return true
  const nowMs = timeFor(payment, deps)
  const decision = decide(payment, { type: 'POISONED', nowMs }, policyFor(entry.partition, deps))
  if (decision.kind === 'refused' || !decision.isChanged) return true
  const { statusBefore, operationResult } = decision
  const wake = wakeTimes(decision.payment.progress, nowMs)
  const written = await deps.commits.commit(
    { payment: decision.payment, statusBefore, operationResult, nowMs, wake, ends: null, begins: null },
    entry.partition
  )
  return written === 'committed'
}

type Owed = Pick<DeadLetterDetails, 'wakeAtMs' | 'result'>

/** What a dead letter still needs: the next wake-up of its payment, and the result of its request. */
async function owedAfterDeadLetter(entry: CommandEntry, deps: WorkerDeps): Promise<Owed> {
  const nowMs = deps.clock.now()
  const payment = await deps.payments.load(entry.partition, entry.paymentKey)
  const dueMs = payment === null ? null : wakeAtMs(payment.progress)
  const isBegun = payment !== null && isOpenFor(payment.progress.operation, entry.idempotencyKey)
  const isRequest = entry.command.kind === 'capture' || entry.command.kind === 'cancel'
  return {
    wakeAtMs: dueMs === null ? null : Math.max(dueMs, nowMs + DEAD_LETTER_WAKE_MS),
    result: isRequest && !isBegun ? { kind: 'failed', code: 'network_unavailable' } : null
  }
}
