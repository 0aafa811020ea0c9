/**
 * Publishes the decisions of workers for developers (`npm run inspect`), at no cost without an inspector.
 *
 * An inspector announces itself by a key that expires. Each worker reads that key once a second, and publishes decisions
 * only while it exists. The published fields are listed one by one: nothing about the buyer, nothing of the card but its
 * brand, and no text of the merchant leaves the worker.
 */
import type { Payment } from '../../machines/model.js'
import type { Decision } from '../../machines/payment/decide.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { eachSecond } from '../../runtime/each-second.js'
import type { Logger } from '../../runtime/log.js'
import { databaseOf, type Redis } from '../connection/connections.js'
import { keys } from '../keys.js'

/** A payment as developers may see it. */
export type ObservedPayment = ReturnType<typeof observePayment>

/** One decision of one worker, with the payment after it. */
export type ObservedDecision = ReturnType<typeof observe>

export interface Inspection {
  /** `payment` before the decision, which is committed. Never throws, never waits. */
  decided(payment: Payment, event: PaymentEvent, decision: Decision): void
}

const ANNOUNCE_EVERY_MS = 1_000
const ANNOUNCED_FOR_MS = 3_000
/** Bounds the memory of a worker while Redis is slow: further decisions are dropped. */
const UNSENT_MAX = 500

/** The worker's side, until `stopping` aborts. `worker`: the name of the process for developers. */
export function createInspection(redis: Redis, worker: string, log: Logger, stopping: AbortSignal): Inspection {
  const channel = channelOf(redis)
  let isWatched = false
  let unsent = 0
  const look = async (): Promise<void> => {
    const found = (await redis.exists(keys.inspector()).catch(() => 0)) === 1
    if (found !== isWatched) log.info(found ? 'an inspector connected' : 'the inspector disconnected')
    isWatched = found
  }
  void look()
  stopping.addEventListener(
    'abort',
    eachSecond(() => void look()),
    { once: true }
  )
  return {
    decided(payment, event, decision) {
      if (!isWatched || unsent >= UNSENT_MAX) return
      unsent++
      redis
        .publish(channel, JSON.stringify(observe(worker, payment, event, decision)))
        .catch(() => undefined)
        .finally(() => {
          unsent--
        })
    }
  }
}

/** The inspector's side: asks the workers to publish until `stop`. `subscriber` is used for nothing else. */
export async function watchDecisions(
  redis: Redis,
  subscriber: Redis,
  onDecision: (decision: ObservedDecision) => void
): Promise<{ stop(): Promise<void> }> {
  const channel = channelOf(redis)
  subscriber.on('message', (_, message: string) => onDecision(JSON.parse(message) as ObservedDecision))
  await subscriber.subscribe(channel)
  const announce = async (): Promise<void> => {
    await redis.set(keys.inspector(), '1', 'PX', ANNOUNCED_FOR_MS).catch(() => undefined)
  }
  await announce()
  const timer = setInterval(() => void announce(), ANNOUNCE_EVERY_MS)
  return {
    // Another inspector may still run, so the key is left to expire.
    async stop() {
      clearInterval(timer)
      await subscriber.unsubscribe(channel)
    }
  }
}

/** The fields of a payment that developers may see. */
export function observePayment({ terms, version, progress, history }: Payment) {
  const { idempotencyKey: _, ...operation } = progress.operation
  return {
    id: terms.id,
    merchantId: terms.merchantId,
    captureMode: terms.captureMode,
    amountCents: terms.amountCents,
    brand: terms.card.brand,
    createdAtMs: terms.createdAtMs,
    version,
    progress: { ...progress, operation },
    history
  }
}

/** `refusal` says why nothing changed; null when the event was taken. */
function observe(worker: string, payment: Payment, event: PaymentEvent, decision: Decision) {
  const isRefused = decision.kind === 'refused'
  return {
    worker,
    event: isRefused ? event.type : decision.event,
    atMs: event.nowMs,
    refusal: isRefused ? decision.code : null,
    effect: isRefused ? null : (decision.effect?.kind ?? null),
    payment: observePayment(isRefused ? payment : decision.payment)
  }
}

function channelOf(redis: Redis): string {
  return keys.inspectionChannel(databaseOf(redis))
}
