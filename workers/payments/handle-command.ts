/**
 * Runs one command under the lock of its payment, and decides what happens when it can't run.
 *
 * - the payment is locked: a command that would be refused is answered at once, any other waits
 * - a Redis is unavailable or refuses a right, or the archive of the payment is unavailable: this worker continues after the
 *   outage, which does not count as a delivery
 * - another version wrote the command or the payment: the command is left to a worker of that version
 * - a key has another type than the service gives it: the command waits without a slot, once it is begun it is requeued; neither
 *   counts as a delivery
 * - a stored value is damaged: the command becomes a dead letter at once
 * - anything else fails: the command is requeued, and becomes a dead letter after `deliveriesMax` deliveries
 */
import { ArchiveUnavailable } from '../../archive/archive.js'
import { decide } from '../../machines/payment/decide.js'
import { WrittenByOtherVersion } from '../../machines/written-by-other-version.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import { isRedisUnavailable, isWrongType } from '../../redis/connection/redis-errors.js'
import { DamagedValue } from '../../redis/stored-fields.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import type { HandlingOutcome } from '../command-loop/intake.js'
import { returnEntry } from '../command-loop/return-entry.js'
import { untilFree } from '../command-loop/until-free.js'
import { CommandRecorder } from './command-recorder.js'
import { type CommandRun, idsOf, LockLost } from './command-run.js'
import { loadPaymentAndEvent } from './command-start.js'
import { deadLetterPoison, poisonIn } from './dead-letter-command.js'
import { eraseBuyer } from './erase-buyer.js'
import { KeyElsewhere } from './perform.js'
import { runCommand } from './run-command.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

const LOCKED_RETRY_MS = 25
const LOCKED_RETRY_MAX_MS = 500
/** A command that failed waits before its next delivery, so that it does not become a dead letter at once. */
const FAILED_RETRY_MS = 500
const WAITS_FOR_REDIS = 'a Redis is unavailable or refuses its user, the command waits'
const WAITS_FOR_ARCHIVE = 'the archive is unavailable, the command of an archived payment waits'
const LEFT_TO_OTHERS = 'a command was left to workers of another version'
const LEFT_FOR_CLOCK = 'a wake-up waits until the clocks of this machine and of Redis agree'
const LEFT_FOR_TYPE = 'a command waits until a key of another type is gone'
const LEFT_FOR_KEY = 'a sale was left to workers with the key of its card'

/**
 * Ends a command, returns it to the stream, or leaves it to the worker that has it by now. Never rejects. `stopping` ends
 * the waiting.
 */
export async function handleCommand(
  entry: CommandEntry,
  deps: WorkerDeps,
  stopping: AbortSignal
): Promise<HandlingOutcome> {
  const recorder = new CommandRecorder(entry, deps)
  try {
    if (entry.command.kind !== 'wake' || !deps.clock.isApart()) {
      return await new Handling(entry, deps, recorder, stopping).end()
    }
    warnRateLimited(deps.log, idsOf(entry), LEFT_FOR_CLOCK)
    return 'left'
  } finally {
    recorder.end()
  }
}

/** What an error means for a command. */
type Setback = 'wait' | 'again' | 'leave' | 'requeue'

/** `isBegun`: something may have been changed or sent for it. */
function setbackOf(error: unknown, isBegun: boolean): Setback {
  if (waitsFor(error) !== null) return 'wait'
  if (isBegun) return 'requeue'
  if (error instanceof LockLost) return 'again'
  const isLeft = error instanceof WrittenByOtherVersion || error instanceof KeyElsewhere || isWrongType(error)
  return isLeft ? 'leave' : 'requeue'
}

function lockedPauseMs(tries: number): number {
  return Math.min(LOCKED_RETRY_MS * 2 ** tries, LOCKED_RETRY_MAX_MS) * (0.5 + Math.random())
}

function waitsFor(error: unknown): string | null {
  if (error instanceof ArchiveUnavailable) return WAITS_FOR_ARCHIVE
  return isRedisUnavailable(error) ? WAITS_FOR_REDIS : null
}

/** One command from its delivery until this worker is done with it. */
class Handling {
  readonly #first: CommandEntry
  readonly #deps: WorkerDeps
  readonly #recorder: CommandRecorder
  readonly #stopping: AbortSignal
  /** Something may have been changed or sent for it. */
  #isBegun = false
  #poison: string | null

  constructor(first: CommandEntry, deps: WorkerDeps, recorder: CommandRecorder, stopping: AbortSignal) {
    this.#first = first
    this.#deps = deps
    this.#recorder = recorder
    this.#stopping = stopping
    this.#poison = poisonIn(first, deps)
  }

  async end(): Promise<HandlingOutcome> {
    const { log, queue } = this.#deps
    const options = { lockedPauseMs, waitsFor, ids: idsOf(this.#first), log, stopping: this.#stopping }
    const outcome = await untilFree(() => this.#attempt(), options)
    if (outcome !== 'stopped') return outcome
    if (!this.#isBegun) await this.#return(() => queue.release(this.#first))
    return 'done'
  }

  /** Once it is begun it counts as begun before, also for this worker. */
  get #entry(): CommandEntry {
    const first = this.#first
    return this.#isBegun ? { ...first, delivery: null, deliveryCount: Math.max(first.deliveryCount, 1) } : first
  }

  async #attempt(): Promise<HandlingOutcome | 'taken' | 'again'> {
    try {
      if (this.#poison === null) return await this.#runUnlessTaken()
      await deadLetterPoison(this.#entry, this.#poison, this.#deps, this.#recorder)
      return 'done'
    } catch (error) {
      if (error instanceof DamagedValue && this.#poison === null) {
        this.#poison = error.message
        return 'again'
      }
      const setback = setbackOf(error, this.#isBegun)
      if (setback === 'wait') throw error
      if (setback === 'again') return 'again'
      return setback === 'leave' ? this.#leave(error) : await this.#requeue(error)
    }
  }

  async #runUnlessTaken(): Promise<'done' | 'taken'> {
    const [entry, deps, recorder] = [this.#entry, this.#deps, this.#recorder]
    recorder.waitsForLock()
    const outcome = await deps.lock.withLock(entry.paymentKey, async lease => {
      recorder.hasLock()
      const run: CommandRun = { entry, deps, recorder, lease, onBegin: this.#onBegin }
      await (entry.command.kind === 'erase_buyer' ? eraseBuyer(run) : runCommand(run))
    })
    if (outcome !== 'taken' || (await refuseNow(entry, deps, recorder))) return 'done'
    return 'taken'
  }

  readonly #onBegin = (): void => {
    this.#isBegun = true
  }

  #leave(error: unknown): 'left' {
    const ofWorkers = error instanceof KeyElsewhere ? LEFT_FOR_KEY : LEFT_TO_OTHERS
    const message = isWrongType(error) ? LEFT_FOR_TYPE : ofWorkers
    warnRateLimited(this.#deps.log, { ...idsOf(this.#first), err: error }, message)
    return 'left'
  }

  async #requeue(error: unknown): Promise<'done'> {
    const { log, queue } = this.#deps
    const ids = idsOf(this.#first)
    const { deliveryCount } = this.#first
    if (error instanceof LockLost) log.info(ids, 'the lock was lost, the command is requeued')
    else {
      log.error({ ...ids, err: error, delivery_count: deliveryCount }, 'the command failed and is requeued')
    }
    await delay(FAILED_RETRY_MS, this.#stopping)
    // A key of a wrong type is not the command's fault: the count says only that it was begun.
    const nextCount = isWrongType(error) ? this.#entry.deliveryCount : deliveryCount + 1
    return await this.#return(() => queue.requeue(this.#first, nextCount))
  }

  async #return(move: () => Promise<void>): Promise<'done'> {
    await returnEntry(move, { log: this.#deps.log, ids: idsOf(this.#first), stopping: this.#stopping })
    return 'done'
  }
}

/**
 * A refusal changes nothing, so it needs no lock: a merchant does not wait for another worker's network call. False: it is not
 * refused, or no longer.
 */
async function refuseNow(entry: CommandEntry, deps: WorkerDeps, recorder: CommandRecorder): Promise<boolean> {
  if (entry.idempotencyRecordId === null) return false
  const start = await loadPaymentAndEvent(entry, deps)
  if (start === null) {
    await recorder.finish()
    return true
  }
  const decision = decide(start.payment, start.event, policyFor(entry.partition, deps))
  if (decision.kind !== 'refused') return false
  return await recorder.refuse(decision.code, start.payment)
}
