/**
 * The webhook endpoint of each merchant: its address, what its signing secrets are derived from, and whether an operator
 * has switched it off.
 *
 * No secret is stored. A secret follows from a random salt, which is in the record, and from a key that is not in
 * Redis (vault/webhook-secrets.ts): a copy of Redis can't sign anything.
 */
import { randomBytes } from 'node:crypto'
import { DAY_MS } from '../../machines/durations.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOf } from '../keys.js'
import { replaceRecord } from '../replace-record.js'
import { many, required, storedList, storedValue } from '../stored-fields.js'

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
  /** Since when an operator has switched its webhooks off: events are neither sent nor kept. Null: they are on. */
  readonly offSinceMs: number | null
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
  /** What is off stays off since its first time. False: the merchant has no endpoint, so it has no events. */
  switchOff(merchantId: string, nowMs: number): Promise<boolean>
  /** No event that happens later is forgotten. False as in `switchOff`. */
  switchOn(merchantId: string): Promise<boolean>
}

/** How long a rotated secret signs beside the new one. */
export const ROTATION_OVERLAP_MS = DAY_MS
/** Each previous secret makes the signature header 68 bytes longer. */
const PREVIOUS_MAX = 8

export function createWebhookEndpointStore(writes: Writes, partitions: number): WebhookEndpointStore {
  const { redis } = writes
  const keyOf = (merchantId: string): string => keys.webhookEndpoint(partitionOf(merchantId, partitions), merchantId)
  /** Two changes at once: the second one sees what the first one wrote. Null for none changes nothing. */
  const change = async <After extends WebhookEndpoint | null>(
    merchantId: string,
    changed: (before: WebhookEndpoint | null) => After
  ): Promise<After> => {
    const key = keyOf(merchantId)
    while (true) {
      const text = await redis.get(key)
      const after = changed(decodeEndpoint(text))
      if (after === null) return after
      const record = encodeEndpoint(after)
      if (await writes.run(key, node => replaceRecord(node, key, text, record))) return after
    }
  }
  return {
    find: async merchantId => decodeEndpoint(await redis.get(keyOf(merchantId))),
    register: registration => change(registration.merchantId, before => endpointAfter(before, registration)),
    switchOff: async (merchantId, nowMs) =>
      (await change(merchantId, before => before && { ...before, offSinceMs: before.offSinceMs ?? nowMs })) !== null,
    switchOn: async merchantId =>
      (await change(merchantId, before => before && { ...before, offSinceMs: null })) !== null
  }
}

const seedTable = { keyId: [required], salt: [required] } as const

const storedEndpoint = storedValue<WebhookEndpoint>('webhook endpoint', {
  url: [required],
  seed: [required, storedList<SecretSeed>(seedTable)],
  previous: [[], many(storedList<WebhookEndpoint['previous'][number]>({ ...seedTable, untilMs: [required] }))],
  updatedAtMs: [required],
  offSinceMs: [null]
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
  if (isSameUrl && !isRotation) return { ...before, offSinceMs: null }
  const previous = isSameUrl ? previousSeeds(before, nowMs) : []
  const seed = { keyId, salt: randomBytes(16).toString('base64url') }
  return { url, seed, previous, updatedAtMs: nowMs, offSinceMs: null }
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
