/** The connection to a running service: tried until it succeeds; after that the Redis client reconnects. */
import type { Payment } from '../../machines/model.js'
import { connect, type Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { findInstallation } from '../../redis/installation/installation.js'
import { partitionOf, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import type { ObservedDecision, ObservedPayment } from '../../redis/operator/inspection.js'
import { observePayment, watchDecisions } from '../../redis/operator/inspection.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'
import { safeAddress } from '../../runtime/redis-address.js'

export interface LiveFeed {
  /** Sentence about the connection. */
  status(): string
  /**
   * A payment by its id, with hyphens or without, else the newest with this order id of a merchant. Null: there is no such
   * payment, or no connection. Rejects when the user of Redis may not search.
   */
  find(text: string): Promise<ObservedPayment | null>
  stop(): Promise<void>
}

const RETRY_MS = 1_000
const STOP_WAIT_MS = 300
const LOST = 'Redis does not answer; reconnecting. What-if works without it.'

interface Connected {
  /** False while the server is unavailable; the client reconnects. */
  isReady(): boolean
  find(text: string): Promise<ObservedPayment | null>
  stop(): Promise<void>
}

/** `address` is called before each attempt, because `npm start` may choose another port. Never rejects. */
export function startLiveFeed(
  address: () => Promise<string>,
  onDecision: (decision: ObservedDecision) => void
): LiveFeed {
  const stopping = new AbortController()
  let status = 'Connecting to the service ...'
  let connected: Connected | undefined
  const connecting = (async () => {
    while (!stopping.signal.aborted && connected === undefined) {
      try {
        const url = await address()
        status = `Connecting: Redis at ${safeAddress(url)} does not answer. What-if works without it.`
        const connection = await connectTo(url, onDecision)
        if (stopping.signal.aborted) return await connection.stop()
        connected = connection
        status = `Connected to Redis at ${safeAddress(url)}.`
      } catch {
        await delay(RETRY_MS, stopping.signal)
      }
    }
  })()
  return {
    status: () => (connected === undefined || connected.isReady() ? status : LOST),
    find: async text => (await connected?.find(text)) ?? null,
    async stop() {
      stopping.abort()
      // Does not wait for a server that does not answer. A connection that succeeds later is closed at once.
      await Promise.race([connecting, delay(STOP_WAIT_MS)])
      await connected?.stop()
    }
  }
}

async function connectTo(url: string, onDecision: (decision: ObservedDecision) => void): Promise<Connected> {
  const log = createLogger('inspect', 'silent')
  const redis = await connect(url, 'commands', log)
  const subscriber = await connect(url, 'subscriber', log)
  const watch = await watchDecisions(redis, subscriber, onDecision)
  const payments = createPaymentStore(unreplicated(redis))
  return {
    isReady: () => redis.status === 'ready',
    async find(text) {
      const id = idIn(text)
      const payment =
        id === null
          ? await newestOf(redis, payments, text).catch(unlessRefused)
          : await payments.load(partitionOfPayment(id), paymentKeyOf(id)).catch(() => null)
      return payment === null ? null : observePayment(payment)
    },
    async stop() {
      await Promise.race([watch.stop().catch(() => undefined), delay(STOP_WAIT_MS)])
      // disconnect, not quit: quit would wait until an unavailable server is back.
      for (const connection of [redis, subscriber]) connection.disconnect()
    }
  }
}

/** A payment id as we write it, or as the card network does. */
function idIn(text: string): string | null {
  const parts = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i.exec(text)
  return parts === null ? null : parts.slice(1).join('-').toLowerCase()
}

/** The newest payment with this order id, of any merchant. */
async function newestOf(redis: Redis, payments: PaymentStore, externalReference: string): Promise<Payment | null> {
  const installation = await findInstallation(redis)
  if (installation === null) return null
  const any = { createdFromMs: 0, createdToMs: Number.MAX_SAFE_INTEGER, status: null, afterId: null, limit: 1 }
  let newest: Payment | null = null
  for (const merchantId of await new MerchantStore(redis, installation.environment).listIds()) {
    const partition = partitionOf(merchantId, installation.partitions)
    const [found] = (await payments.list({ ...any, merchantId, partition, externalReference })).payments
    if (found && found.terms.createdAtMs > (newest?.terms.createdAtMs ?? 0)) newest = found
  }
  return newest
}

function unlessRefused(error: unknown): null {
  if (/^NOPERM/.test(messageOf(error))) throw new Error('This user of Redis finds payments by their id only.')
  return null
}
