/**
 * One command: the first event of a payment is sent under the lock of its deliveries. One script writes the outcome and
 * schedules what comes next.
 *
 * If a worker dies, another one takes over its command and sends the event again. A worker that was only suspended then
 * writes nothing, because the command is no longer its own. So an event may arrive twice, but never before the one
 * before it was settled.
 */
import { decideDelivery, overdueAtMs } from '../../machines/webhook-delivery.js'
import { isRedisUnavailable } from '../../redis/connection/redis-errors.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { deliveryLock } from '../../redis/locks/payment-lock.js'
import type { DeliveryEntry } from '../../redis/webhooks/delivery-entry.js'
import { DamagedEvent, type FirstEvent, type Settlement } from '../../redis/webhooks/webhook-queue.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import type { HandlingOutcome } from '../payments/intake.js'
import { returnEntry } from '../payments/return-entry.js'
import { attemptDelivery } from './attempt.js'
import type { DeliveryDeps } from './delivery-deps.js'
import { createReceivers, type Receiver } from './receivers.js'

const LOCKED_RETRY_MS = 50
const UNAVAILABLE_RETRY_MS = 200
/** Parked payments that one success releases, until the window of the endpoint is full. */
const RELEASES_MAX = 2

export type DeliveryHandler = (entry: DeliveryEntry, stopping: AbortSignal) => Promise<HandlingOutcome>

/** `interrupted` aborts when answers are no longer awaited: the next worker sends those events again. */
export function createDeliveryHandler(deps: DeliveryDeps, interrupted: AbortSignal): DeliveryHandler {
  const { queue, lock, log } = deps
  const receiverOf = createReceivers(deps.concurrency, log)
  return async (entry, stopping) => {
    const receiver = receiverOf(entry.merchantId)
    while (!stopping.aborted) {
      try {
        const outcome = await lock.hold(deliveryLock(entry.paymentKey), held =>
          deliverFirst(entry, receiver, deps, { held, interrupted })
        )
        if (outcome === 'settled') return 'ended'
        if (outcome === 'cut') break
        await delay(LOCKED_RETRY_MS, stopping)
      } catch (error) {
        const context = { ...idsOf(entry), err: error }
        if (!isRedisUnavailable(error)) {
          deps.metrics.failed('left')
          warnRateLimited(receiver.log, context, 'a webhook could not be sent, it is tried again')
          return 'left'
        }
        warnRateLimited(log, context, 'a Redis is unavailable, the webhook waits')
        await delay(UNAVAILABLE_RETRY_MS, stopping)
      }
    }
    await returnEntry(() => queue.requeue(entry), { log, ids: idsOf(entry), stopping })
    return 'ended'
  }
}

function idsOf({ paymentKey, merchantId }: DeliveryEntry): Readonly<Record<string, string>> {
  return { payment_id: paymentIdOfKey(paymentKey), merchant_id: merchantId }
}

interface Signals {
  /** Aborts when the lock is lost. */
  readonly held: AbortSignal
  readonly interrupted: AbortSignal
}

/** Runs under the lock. `cut`: the attempt was interrupted, so the event stays first and is sent again. */
async function deliverFirst(
  entry: DeliveryEntry,
  receiver: Receiver,
  deps: DeliveryDeps,
  { held, interrupted }: Signals
): Promise<'settled' | 'cut'> {
  const first = await deps.queue.first(entry).catch(damagedOnly)
  if (first instanceof DamagedEvent) {
    if (!(await deps.queue.setAside(entry, first))) return 'settled'
    deps.metrics.failed('set_aside')
    const context = { ...idsOf(entry), reason: first.message }
    warnRateLimited(receiver.log, context, 'a damaged webhook event becomes a dead letter: see dead-letter list')
    return 'settled'
  }
  if (first === null) {
    await deps.queue.end(entry)
    return 'settled'
  }
  let settlement = settledUnsent(entry, first, receiver, deps)
  if (settlement === null) {
    const sent = await receiver.during(() => attemptDelivery(first, entry.merchantId, deps, held))
    if (held.aborted || interrupted.aborted) return 'cut'
    receiver.note(sent.attempt.status)
    settlement = sent
  }
  const releases = Math.min(receiver.room, RELEASES_MAX)
  await untilWritten(() => deps.queue.settle(entry, first.event, { ...settlement, releases }), deps.log)
  if (settlement.state === 'undeliverable') {
    deps.metrics.gaveUp()
    // An endpoint that is down for days loses as many events as its merchant has payments.
    warnRateLimited(receiver.log, { event_id: first.event.eventId }, 'a webhook event is undeliverable')
  }
  return 'settled'
}

function damagedOnly(error: unknown): DamagedEvent {
  if (error instanceof DamagedEvent) return error
  throw error
}

/** The settlement of an event that is not sent now; null: it is sent. */
function settledUnsent(
  { kind }: DeliveryEntry,
  { event: { delivery }, isOff, isOpen, failingSinceMs }: FirstEvent,
  { room }: Receiver,
  { clock, retries }: DeliveryDeps
): Settlement | null {
  // It counts as a success, so that what waits behind a dead endpoint goes as soon as it is due.
  if (isOff) return { state: 'forgotten', health: 'well' }
  if (kind === 'probe' || (!isOpen && room > 0)) return null
  const nowMs = clock.now()
  // An event behind one that was given up is younger, and gets its own whole span.
  const overdueMs = Math.ceil(overdueAtMs(delivery, failingSinceMs ?? delivery.sinceMs, retries))
  if (!isOpen || nowMs <= overdueMs) return { state: 'parked', nextAtMs: overdueMs }
  return { state: decideDelivery(delivery, { type: 'OVERDUE', nowMs, failingSinceMs }, retries).state }
}

/** Repeats until Redis takes it: a short outage of Redis must not cause a second delivery. */
async function untilWritten(write: () => Promise<unknown>, log: Logger): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error
      warnRateLimited(log, { err: error }, 'a webhook result could not be written, trying again')
      await delay(UNAVAILABLE_RETRY_MS)
    }
  }
}
