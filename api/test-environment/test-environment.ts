/**
 * Actions of merchants in the test environment (docs/TESTING.md). Each may be repeated.
 *
 * The card network remains the only source of truth: its simulator books a chargeback and sends a notification, and an
 * expired hold is queried and voided like every other one.
 */
import type { ListedEvent } from '../../contract/webhook-event.js'
import type { Payment } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { testChange } from '../../machines/status-change.js'
import type { Redis } from '../../redis/connection/connections.js'
import { newPaymentId, partitionOf } from '../../redis/keys.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import { loggedEvent } from '../../redis/webhooks/webhook-event.js'
import { WebhookLog } from '../../redis/webhooks/webhook-log.js'
import type { Clock } from '../../runtime/clock.js'
import type { Config } from '../../runtime/config.js'
import { ServiceError } from '../http/service-error.js'

const SIMULATOR_TIMEOUT_MS = 5_000

/** Events of each list that a replay searches for its id: 25 ms of the process. */
const SEARCHED_MAX = 2_000

export interface TestEnvironment {
  /** Throws `ServiceError` `simulator_missing`, or `network_unavailable` when the simulator fails. */
  chargeBack(payment: Payment): Promise<void>
  /** Ends the window of a hold: wakes the payment as `timers` does at its end. Does nothing to any other payment. */
  expire(payment: Payment): Promise<void>
  /** Sends an event about no payment to the endpoint of the merchant. */
  sendEvent(merchantId: string): Promise<ListedEvent>
  /** The last events, last sent first. An event that is being sent at this moment is missing. */
  listEvents(merchantId: string, count: number): Promise<ListedEvent[]>
  /**
   * Null when the merchant has no such event. Rejects once `signal` aborts during the search. Throws `too_many_events` while as
   * many events of its payment wait as may.
   */
  replayEvent(merchantId: string, eventId: string, signal: AbortSignal): Promise<ListedEvent | null>
}

export interface TestEnvironmentDeps {
  readonly redis: Redis
  readonly config: Pick<Config, 'partitions' | 'simulatorUrl'>
  readonly store: Pick<PaymentStore, 'wake' | 'load'>
  /** Real time, which `webhooks` uses, also where the clock of the test environment was moved. */
  readonly clock: Clock
}

export function createTestEnvironment({ redis, config, store, clock }: TestEnvironmentDeps): TestEnvironment {
  const eventLog = new WebhookLog(redis, config.partitions, store)
  return {
    chargeBack: payment => chargeBackAt(config.simulatorUrl, orderIdOf(payment.terms.id)),

    expire: ({ terms, progress }) => store.wake(terms.id, progress.expiresAtMs ?? 0),

    async sendEvent(merchantId) {
      const nowMs = clock.now()
      const change = testChange(newPaymentId(partitionOf(merchantId, config.partitions), nowMs), nowMs)
      await eventLog.append(merchantId, [{ change }], nowMs)
      return loggedEvent(merchantId, 'waiting', change)
    },

    listEvents: (merchantId, count) => eventLog.newest(merchantId, count),

    async replayEvent(merchantId, eventId, signal) {
      const event = await eventLog.find(eventId, [merchantId], { max: SEARCHED_MAX, signal })
      if (event === null) return null
      if ((await eventLog.replay(event)).sent === 0) throw new ServiceError('too_many_events')
      return { ...event, state: 'waiting', nextAttemptAtMs: null }
    }
  }
}

async function chargeBackAt(simulatorUrl: string, orderId: string): Promise<void> {
  if (simulatorUrl === '') throw new ServiceError('simulator_missing')
  const response = await fetch(new URL('/simulator/chargebacks', simulatorUrl), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ merchant_order_id: orderId }),
    signal: AbortSignal.timeout(SIMULATOR_TIMEOUT_MS)
  }).catch(() => null)
  await response?.body?.cancel()
  if (response?.status !== 201) throw new ServiceError('network_unavailable')
}
