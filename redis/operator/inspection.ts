/**
 * Publishes the decisions of workers for developers (`npm run inspect`), at no cost without an inspector.
 *
 * An inspector announces itself by a key that expires. Each worker reads that key once a second, and publishes decisions
 * only while it exists. The published fields are listed one by one: nothing about the buyer, nothing of the card but its
 * brand, and no text of the merchant leaves the worker.
 */
import type { HistoryEntry, Payment, PaymentProgress, RefusalCode } from '../../machines/model.js'
import type { Decision } from '../../machines/payment/decide.js'
import type { Effect, LifecycleEvent, PaymentEvent } from '../../machines/payment/events.js'
import type { Logger } from '../../runtime/log.js'
import { databaseOf, type Redis } from '../connection/connections.js'
import { keys } from '../keys.js'

/** A payment as developers may see it. */
export interface ObservedPayment {
  readonly id: string
  readonly merchantId: string
  readonly captureMode: 'auto' | 'manual'
  readonly amountCents: number
  readonly brand: string
  readonly createdAtMs: number
  readonly version: number
  readonly progress: Omit<PaymentProgress, 'operation'> & {
    readonly operation: Omit<PaymentProgress['operation'], 'idempotencyKey'>
  }
  readonly history: readonly HistoryEntry[]
}

/** One decision of one worker. */
export interface ObservedDecision {
  readonly worker: string
  readonly event: PaymentEvent['type'] | LifecycleEvent['type']
  readonly atMs: number
  /** Why nothing changed; null when the event was taken. */
  readonly refusal: RefusalCode | null
  readonly effect: Effect['kind'] | null
  /** After the decision. */
  readonly payment: ObservedPayment
}

export interface Inspection {
  /** `payment` before the decision, which is committed. Never throws, never waits. */
  decided(payment: Payment, event: PaymentEvent, decision: Decision): void
}

const LOOK_EVERY_MS = 1_000
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
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  stopping.addEventListener('abort', () => clearInterval(timer), { once: true })
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
export function observePayment({ terms, version, progress, history }: Payment): ObservedPayment {
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

function observe(worker: string, payment: Payment, event: PaymentEvent, decision: Decision): ObservedDecision {
  return {
    worker,
    event: decision.kind === 'refused' ? event.type : decision.event,
    atMs: event.nowMs,
    refusal: decision.kind === 'refused' ? decision.code : null,
    effect: decision.kind === 'refused' ? null : (decision.effect?.kind ?? null),
    payment: observePayment(decision.kind === 'refused' ? payment : decision.payment)
  }
}

function channelOf(redis: Redis): string {
  return keys.inspectionChannel(databaseOf(redis))
}
