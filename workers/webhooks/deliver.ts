/**
 * One command: the first event of a payment is sent under the lock of its deliveries. What follows is decided in
 * machines/webhook-delivery.ts, and written by one script.
 *
 * If a worker dies, another one takes over its command and sends the event again. A worker that was only suspended then
 * writes nothing, because the command is no longer its own. So an event may arrive twice, but never before the one
 * before it was concluded.
 */
import type { Lease } from '../../machines/lease.js'
import {
  type Attempt,
  type Conclusion,
  conclude,
  type Delivery,
  type Failing,
  hindranceOf,
  type Outcome,
  setAside
} from '../../machines/webhook-delivery.js'
import { isRedisUnavailable, isRedisUnusable } from '../../redis/connection/redis-errors.js'
import { outagePauseMs } from '../../redis/connection/until-answered.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { deliveryLock, type PaymentLock } from '../../redis/locks/payment-lock.js'
import type { DeliveryEntry } from '../../redis/webhooks/delivery-entry.js'
import type { FirstEvent, ReadableFirst, WebhookQueue } from '../../redis/webhooks/webhook-queue.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import type { HandlingOutcome } from '../command-loop/intake.js'
import { returnEntry } from '../command-loop/return-entry.js'
import { untilFree } from '../command-loop/until-free.js'
import { type AttemptDeps, attemptDelivery } from './attempt.js'
import { createReceivers, type Receiver } from './receivers.js'

/** The worker of the event before releases its lock a moment after it has written the command of this one. */
const LOCKED_RETRY_MS = 4
const LOCKED_RETRY_MAX_MS = 50

export interface DeliveryDeps extends AttemptDeps {
  readonly queue: WebhookQueue
  readonly lock: PaymentLock
  /** Gaps between attempts. */
  readonly delaysMs: readonly number[]
  /** Events in flight to one endpoint, at most. */
  readonly concurrency: number
  /** From 0 to 1. */
  readonly random: () => number
}

export type DeliveryHandler = (entry: DeliveryEntry, stopping: AbortSignal) => Promise<HandlingOutcome>

/** `interrupted` aborts when answers are no longer awaited: the next worker sends those events again. */
export function createDeliveryHandler(deps: DeliveryDeps, interrupted: AbortSignal): DeliveryHandler {
  const { queue, lock, log } = deps
  const receiverOf = createReceivers(deps.concurrency, log)
  return async (entry, stopping) => {
    const receiver = receiverOf(entry.merchantId)
    const ids = idsOf(entry)
    const attempt = (): Promise<'done' | 'cut' | 'taken'> =>
      lock.withLock(deliveryLock(entry.paymentKey), lease => deliverFirst(entry, receiver, deps, lease, interrupted))
    try {
      const outcome = await untilFree(attempt, { lockedPauseMs, waitsFor, ids, log, stopping })
      if (outcome === 'done') return 'done'
    } catch (error) {
      deps.metrics.failed('left')
      warnRateLimited(receiver.log, { ...ids, err: error }, 'a webhook could not be sent, it is tried again')
      return 'left'
    }
    await returnEntry(() => queue.requeue(entry), { log, ids, stopping })
    return 'done'
  }
}

function lockedPauseMs(tries: number): number {
  return Math.min(LOCKED_RETRY_MS * 2 ** tries, LOCKED_RETRY_MAX_MS)
}

function waitsFor(error: unknown): string | null {
  return isRedisUnavailable(error) ? 'a Redis is unavailable, the webhook waits' : null
}

function idsOf({ paymentKey, merchantId }: DeliveryEntry): Readonly<Record<string, string>> {
  return { payment_id: paymentIdOfKey(paymentKey), merchant_id: merchantId }
}

/** Runs under the lock. `cut`: the attempt was interrupted, so the event stays first and is sent again. */
async function deliverFirst(
  entry: DeliveryEntry,
  receiver: Receiver,
  deps: DeliveryDeps,
  lease: Lease,
  interrupted: AbortSignal
): Promise<'done' | 'cut'> {
  const { queue, clock, delaysMs, log } = deps
  const first = await queue.first(entry)
  if (first === null) {
    await queue.end(entry)
    return 'done'
  }
  const tried = first.kind === 'damaged' ? null : await tryFirst(first, entry, receiver, deps, lease)
  const attempt = tried?.attempt ?? null
  if (attempt !== null) {
    if (lease.isLost() || interrupted.aborted) return 'cut'
    receiver.note(attempt.status)
  }
  const given = { nowMs: clock.now(), random: deps.random(), isTrial: entry.kind === 'trial', delaysMs }
  const result = {
    decide: (failing: Failing | null) =>
      tried === null ? setAside(failing) : conclude(tried.delivery, failing, tried.outcome, given),
    attempt,
    room: receiver.room
  }
  report(await untilWritten(() => queue.conclude(entry, first, result), log), entry, first, receiver, deps)
  return 'done'
}

/** Sends the event, unless something hinders it. `attempt` null: nothing was sent. */
async function tryFirst(
  { event, endpoint, failing }: ReadableFirst,
  { merchantId, kind }: DeliveryEntry,
  receiver: Receiver,
  deps: DeliveryDeps,
  lease: Lease
): Promise<{ readonly delivery: Delivery; readonly outcome: Outcome; readonly attempt: Attempt | null }> {
  const delivery = { attempts: event.attempts.length, sinceMs: event.sinceMs }
  const isOff = endpoint !== null && endpoint.offSinceMs !== null
  const hindrance = hindranceOf({ isOff, failing, isTrial: kind === 'trial', hasRoom: receiver.room > 0 })
  if (hindrance !== null) return { delivery, outcome: { kind: hindrance }, attempt: null }
  const sent = await receiver.during(() => attemptDelivery(event, endpoint, merchantId, deps, lease))
  return { delivery, ...sent }
}

/** `conclusion` null: another worker has concluded it. */
function report(
  conclusion: Conclusion | null,
  entry: DeliveryEntry,
  first: FirstEvent,
  receiver: Receiver,
  { metrics }: DeliveryDeps
): void {
  if (conclusion === null) return
  if (first.kind === 'damaged') {
    metrics.failed('set_aside')
    const context = { ...idsOf(entry), reason: first.reason }
    warnRateLimited(receiver.log, context, 'a damaged webhook event became a dead letter: see dead-letter list')
  } else if (conclusion.event === 'undeliverable') {
    metrics.gaveUp()
    // An endpoint that is down for days loses as many events as its merchant has payments.
    warnRateLimited(receiver.log, { event_id: first.event.eventId }, 'a webhook event became undeliverable')
  }
}

/** Repeats until Redis takes it: an outage of Redis, or a key of another type, must not cause a second delivery. */
async function untilWritten<Answer>(write: () => Promise<Answer>, log: Logger): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (!isRedisUnusable(error)) throw error
      warnRateLimited(log, { err: error }, 'a webhook result could not be written, trying again')
      await delay(outagePauseMs(tries))
    }
  }
}
