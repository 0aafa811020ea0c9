/**
 * The webhook endpoint of each merchant: its address, what its signing secrets are derived from, and whether an operator
 * has switched it off.
 *
 * No secret is stored. A secret follows from a random salt, which is in the record, and from a key that is not in
 * Redis (vault/webhook-secrets.ts): a copy of Redis can't sign anything.
 */
import { randomBytes } from 'node:crypto'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOf } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { many, required, storedList, storedValue } from '../stored-fields.js'

const replaceEndpoint = defineNamedScript<{
  keys: 'endpoint' | 'off'
  given: { before: string | undefined; after: string }
}>('replace_webhook_endpoint')

/** What a signing secret is derived from. */
export interface SecretSeed {
  readonly keyId: string
  readonly salt: string
}

export interface WebhookEndpoint {
  readonly url: string
  readonly seed: SecretSeed
  /** Seeds that were rotated away, newest first; the secret of each signs beside the new one until its `untilMs`. */
  readonly previous: readonly (SecretSeed & { readonly untilMs: number })[]
  readonly updatedAtMs: number
}

export interface Registration {
  readonly merchantId: string
  readonly url: string
  readonly isRotation: boolean
  /** The key that new secrets are derived from. */
  readonly keyId: string
  readonly nowMs: number
}

/** All methods reject while the durable Redis is unavailable; each may be repeated. */
export interface WebhookEndpointStore {
  /**
   * Same URL: nothing changes, unless `isRotation` asks for a new secret. Another URL: a new secret, and the old one
   * ends with the old URL. Each registration also ends a switch-off.
   */
  register(registration: Registration): Promise<WebhookEndpoint>
  /** Null when the merchant has none. */
  find(merchantId: string): Promise<WebhookEndpoint | null>
  /** Since when a merchant's webhooks are switched off: events are neither sent nor kept (ms). Null while they are on. */
  offSince(merchantId: string): Promise<number | null>
  /** For a merchant without an endpoint, too. What is off stays off since its first time. */
  switchOff(merchantId: string, nowMs: number): Promise<void>
  /** False when they were on. No event that happens later is forgotten. */
  switchOn(merchantId: string): Promise<boolean>
}

/** How long a rotated secret signs beside the new one. */
export const ROTATION_OVERLAP_MS = 24 * 3_600_000
/** Each previous secret makes the signature header 68 bytes longer. */
const PREVIOUS_MAX = 8

export function createWebhookEndpointStore(writes: Writes, partitions: number): WebhookEndpointStore {
  const { redis } = writes
  const keyOf = (merchantId: string): string => keys.webhookEndpoint(partitionOf(merchantId, partitions), merchantId)
  const offKeyOf = (merchantId: string): string => keys.webhooksOff(partitionOf(merchantId, partitions), merchantId)
  return {
    find: async merchantId => decodeEndpoint(await redis.get(keyOf(merchantId))),
    register: async registration => {
      const { merchantId } = registration
      const [endpoint, off] = [keyOf(merchantId), offKeyOf(merchantId)]
      // Two registrations at once: the second one sees what the first one wrote.
      while (true) {
        const record = await redis.get(endpoint)
        const after = endpointAfter(decodeEndpoint(record), registration)
        const given = { before: record ?? undefined, after: encodeEndpoint(after) }
        if ((await writes.run(endpoint, node => replaceEndpoint(node, { endpoint, off }, given))) === 1) return after
      }
    },
    offSince: async merchantId => {
      const since = await redis.get(offKeyOf(merchantId))
      return since === null ? null : Number(since)
    },
    switchOff: async (merchantId, nowMs) => {
      const key = offKeyOf(merchantId)
      await writes.run(key, node => node.setnx(key, String(nowMs)))
    },
    switchOn: async merchantId => {
      const key = offKeyOf(merchantId)
      return (await writes.run(key, node => node.del(key))) === 1
    }
  }
}

const seedTable = { keyId: [required], salt: [required] } as const

const storedEndpoint = storedValue<WebhookEndpoint>('webhook endpoint', {
  url: [required],
  seed: [required, storedList<SecretSeed>(seedTable)],
  previous: [[], many(storedList<WebhookEndpoint['previous'][number]>({ ...seedTable, untilMs: [required] }))],
  updatedAtMs: [required]
})

/** As `register` stores it. */
export const encodeEndpoint = storedEndpoint.encode

/** Reads what is stored; null when there is nothing. Throws as `storedValue` does. */
export function decodeEndpoint(record: string | null): WebhookEndpoint | null {
  return record === null ? null : storedEndpoint.decode(record)
}

function endpointAfter(before: WebhookEndpoint | null, registration: Registration): WebhookEndpoint {
  const { url, isRotation, keyId, nowMs } = registration
  const isSameUrl = before?.url === url
  if (isSameUrl && !isRotation) return before
  const previous = isSameUrl ? previousSeeds(before, nowMs) : []
  return { url, seed: { keyId, salt: randomBytes(16).toString('base64url') }, previous, updatedAtMs: nowMs }
}

/**
 * A rotation is repeated when its answer was lost: the merchant still uses the secret of before the first one. So every
 * previous secret keeps its time. When there are too many, those in the middle go: the oldest one is in use if no
 * answer arrived, and one of the latest if answers did.
 */
function previousSeeds({ seed, previous }: WebhookEndpoint, nowMs: number): WebhookEndpoint['previous'] {
  const running = previous.filter(({ untilMs }) => untilMs > nowMs)
  const seeds = [{ ...seed, untilMs: nowMs + ROTATION_OVERLAP_MS }, ...running]
  return seeds.length > PREVIOUS_MAX ? [...seeds.slice(0, PREVIOUS_MAX - 1), ...seeds.slice(-1)] : seeds
}
