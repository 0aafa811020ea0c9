/**
 * The webhook endpoint of each merchant: its address, and what its signing secrets are derived from.
 *
 * No secret is stored. A secret follows from a random salt, which is in the record, and from a key that is not in
 * Redis (vault/webhook-secrets.ts): a copy of Redis can't sign anything.
 */
import { randomBytes } from 'node:crypto'
import type { Redis } from './connections.js'
import { keys, partitionOf } from './keys.js'
import { defineScript } from './scripts.js'
import { createWrites, type Writes } from './writes.js'

const replaceEndpoint = defineScript('replace_webhook_endpoint')

/** What a signing secret is derived from. */
export interface SecretSeed {
  readonly keyId: string
  readonly salt: string
}

export interface PreviousSeed extends SecretSeed {
  readonly untilMs: number
}

export interface WebhookEndpoint {
  readonly url: string
  readonly seed: SecretSeed
  /** Seeds that were rotated away, newest first; the secret of each signs beside the new one until its `untilMs`. */
  readonly previous: readonly PreviousSeed[]
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

export interface WebhookEndpointStore {
  /**
   * Same URL: nothing changes, unless `isRotation` asks for a new secret. Another URL: a new secret, and the old one
   * ends with the old URL.
   */
  register(registration: Registration): Promise<WebhookEndpoint>
  /** Null when the merchant has none. */
  find(merchantId: string): Promise<WebhookEndpoint | null>
}

/** How long a rotated secret signs beside the new one. */
export const ROTATION_OVERLAP_MS = 24 * 3_600_000
/** Each previous secret makes the signature header 68 bytes longer. */
const PREVIOUS_MAX = 8

export function createWebhookEndpointStore(
  redis: Redis,
  partitions: number,
  writes: Writes = createWrites(redis, 0)
): WebhookEndpointStore {
  const keyOf = (merchantId: string): string => keys.webhookEndpoint(partitionOf(merchantId, partitions), merchantId)
  return {
    find: async merchantId => {
      const record = await redis.get(keyOf(merchantId))
      return record === null ? null : decodeEndpoint(record)
    },
    register: async registration => {
      const key = keyOf(registration.merchantId)
      // Two registrations at once: the second one sees what the first one wrote.
      while (true) {
        const record = await redis.get(key)
        const before = record === null ? null : decodeEndpoint(record)
        if (before?.url === registration.url && !registration.isRotation) return before
        const after = nextEndpoint(before, registration)
        const records = [record ?? '', encodeEndpoint(after)]
        if ((await writes.run(key, node => replaceEndpoint(node, [key], records))) === 1) return after
      }
    }
  }
}

function nextEndpoint(before: WebhookEndpoint | null, { url, keyId, nowMs }: Registration): WebhookEndpoint {
  const previous = before?.url === url ? previousSeeds(before, nowMs) : []
  return { url, seed: { keyId, salt: randomBytes(16).toString('base64url') }, previous, updatedAtMs: nowMs }
}

/**
 * A rotation is repeated when its answer was lost: the merchant still uses the secret of before the first one. So every
 * previous secret keeps its time. When there are too many, those in the middle go: the oldest one is in use if no
 * answer arrived, and one of the latest if answers did.
 */
function previousSeeds({ seed, previous }: WebhookEndpoint, nowMs: number): readonly PreviousSeed[] {
  const running = previous.filter(({ untilMs }) => untilMs > nowMs)
  const seeds = [{ ...seed, untilMs: nowMs + ROTATION_OVERLAP_MS }, ...running]
  return seeds.length > PREVIOUS_MAX ? [...seeds.slice(0, PREVIOUS_MAX - 1), ...seeds.slice(-1)] : seeds
}

type StoredPrevious = [keyId: string, salt: string, untilMs: number]

type StoredEndpoint = {
  u: string
  s: [keyId: string, salt: string]
  /** The newest previous seed, and the older ones: a version that knows one only reads the newest. */
  p?: StoredPrevious
  o?: StoredPrevious[]
  t: number
}

function encodeEndpoint({ url, seed, previous, updatedAtMs }: WebhookEndpoint): string {
  const stored: StoredEndpoint = { u: url, s: [seed.keyId, seed.salt], t: updatedAtMs }
  const [newest, ...older] = previous.map(({ keyId, salt, untilMs }): StoredPrevious => [keyId, salt, untilMs])
  if (newest !== undefined) stored.p = newest
  if (older.length > 0) stored.o = older
  return JSON.stringify(stored)
}

function decodeEndpoint(record: string): WebhookEndpoint {
  const { u, s, p, o = [], t } = JSON.parse(record) as StoredEndpoint
  const previous = p === undefined ? [] : [p, ...o]
  return {
    url: u,
    seed: { keyId: s[0], salt: s[1] },
    previous: previous.map(([keyId, salt, untilMs]) => ({ keyId, salt, untilMs })),
    updatedAtMs: t
  }
}
