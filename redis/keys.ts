/**
 * Every key and channel of the service, and what they are made of: partitions, ids of payments and records. docs/DESIGN.md
 * prints this table.
 *
 * A merchant belongs to one partition; all that is the merchant's carries the hash tag `{pNN}`, so that each script
 * touches one slot of a Redis Cluster. A payment id ends in its partition (three hex digits), so that an id alone is
 * enough to find a payment: notifications of the card network and operators know nothing else.
 */
import { hash } from 'node:crypto'
import { V7Generator } from 'uuidv7'

/** Name of the consumer group of the payments workers on every command stream. */
export const PAYMENTS_GROUP = 'payments'
/** Name of the consumer group of the `webhooks` processes on every stream of deliveries. */
export const WEBHOOKS_GROUP = 'webhooks'

export const keys = {
  // Durable Redis, on the server of any other key.
  /** Written to be waited for (writes.ts); says nothing. */
  fence: (key: string) => `{${tagOf(key)}}:fence`,

  // Durable Redis, one per installation.
  /** In the memory-only Redis, too. */
  installation: () => 'installation',
  merchant: (merchantId: string) => `merchant:${merchantId}`,
  merchants: () => 'merchants',
  apiKey: (keyId: string) => `key:${keyId}`,
  apiKeys: () => 'keys',
  heartbeats: () => 'heartbeats',
  /** On the server of the workers' heartbeats: one script looks at both. */
  timersHeartbeats: () => '{heartbeats}:timers',
  webhookHeartbeats: () => '{heartbeats}:webhooks',
  replyChannel: (instance: string) => `reply:${instance}`,
  inspector: () => 'inspector',
  /** Channels are shared by all databases of a server, keys are not. */
  inspectionChannel: (database: number) => `inspection:${database}`,
  clockOffset: () => 'clock_offset',
  /** What operators change (operator/audit-trail.ts). */
  operatorAudit: () => 'operator_audit',
  /** Ids of the keys of this installation, the newest last (key-record.ts). */
  keyRecord: (kind: 'vault' | 'webhook') => `${kind}_keys`,
  notifications: () => '{notifications}:due',
  notificationsSince: () => '{notifications}:since',
  reconcilePace: () => 'reconcile_pace',
  knownSale: () => 'known_sale',
  /** Whose account at which acquirer has the payments (installation/acquirer-record.ts). */
  acquirer: () => 'acquirer',

  // Durable Redis, per partition.
  /** Counts what was accepted, begun and committed (decision 31). */
  commitCounter: (partition: number) => `${tag(partition)}:seq`,
  /** The epochs of the data, and whether it is vouched for (installation/epochs.ts). */
  vouch: (partition: number) => `${tag(partition)}:vouch`,
  /** Payments that are still to be compared with the acquirer's records. */
  unvouched: (partition: number) => `${tag(partition)}:unvouched`,
  payment: (partition: number, paymentKey: string) => `${tag(partition)}:pay:${paymentKey}`,
  /** Null: of a command without a request. A script that ends commands gets a key for it, and leaves that alone. */
  idempotency: (partition: number, recordId: string | null) => `${tag(partition)}:idem:${recordId ?? 'none'}`,
  commands: (partition: number) => `${tag(partition)}:commands`,
  deadLetters: (partition: number) => `${tag(partition)}:dead`,
  /** New payments whose authorisation a worker has begun, and its delivery: until the commit of another status, or until
   * the delivery is released. */
  begun: (partition: number) => `${tag(partition)}:begun`,
  /** Payments by the end of their window; those of a dead letter by when they are woken. */
  due: (partition: number) => `${tag(partition)}:due`,
  /** Payments by the time of the next reconciliation, or from which the command that works on one counts as lost. */
  reconcile: (partition: number) => `${tag(partition)}:reconcile`,
  /** Payments that the archive may get, by the time from which they are looked at again. */
  rests: (partition: number) => `${tag(partition)}:rests`,
  /** The newest payment that ever left for the archive. */
  archived: (partition: number) => `${tag(partition)}:archived`,
  /** Merchants, and up to which payment each was searched for those that rest. */
  archiveCursors: (partition: number) => `${tag(partition)}:archive`,
  review: (partition: number) => `${tag(partition)}:review`,
  inDoubt: (partition: number) => `${tag(partition)}:doubt`,
  /** Payments by the network's sale id. A hash of the sale id chooses one of 65,536 buckets. */
  sales: (partition: number, saleId: string) => `${tag(partition)}:sales:${digest(saleId, 4)}`,
  byStatus: (partition: number, merchantId: string, status: string) => `${tag(partition)}:st:${merchantId}:${status}`,
  byReference: (partition: number, merchantId: string) => `${tag(partition)}:ref:${merchantId}`,
  card: (partition: number, cardId: string) => `${tag(partition)}:card:${cardId}`,
  cardDeclines: (partition: number, cardId: string) => `${tag(partition)}:declines:${cardId}`,
  cardOfToken: (partition: number, tokenId: string) => `${tag(partition)}:cardtok:${tokenId}`,
  webhookEndpoint: (partition: number, merchantId: string) => `${tag(partition)}:hook:${merchantId}`,
  /** Commands for the `webhooks` processes: payments whose first event is to be sent. */
  deliveries: (partition: number) => `${tag(partition)}:webhooks`,
  /** The events of a payment that are not delivered yet, in their order; the first one with its failed attempts. */
  webhookEvents: (partition: number, paymentKey: string) => `${tag(partition)}:hookfifo:${paymentKey}`,
  /** Payments (`encodeLineMember`) whose first event waits for its next attempt, or for the endpoint, by the time since which it is due. */
  webhookLine: (partition: number, merchantId: string) => `${tag(partition)}:hookline:${merchantId}`,
  /** Merchants with such payments, by the time at which their line is due. */
  webhookLines: (partition: number) => `${tag(partition)}:hooklines`,
  /** The endpoint of a merchant while it fails. */
  webhookFailing: (partition: number, merchantId: string) => `${tag(partition)}:hookfailing:${merchantId}`,
  webhookUndeliverable: (partition: number, merchantId: string) => `${tag(partition)}:hookgone:${merchantId}`,
  webhookJournal: (partition: number, merchantId: string) => `${tag(partition)}:hooksent:${merchantId}`,

  // Memory-only Redis.
  /** What was acknowledged last in each partition: servers by the commit counter that was seen under each. */
  seen: () => 'seen',
  token: (tokenId: string) => `token:${tokenId}`,
  cvv: (paymentId: string) => `cvv:${paymentKeyOf(paymentId)}`,
  /** Not below `token:`, so that no id of a CVV is that of a card. */
  cvvToken: (tokenId: string) => `cvv:${tokenId}`,
  rateLimit: (keyId: string) => `rate:${keyId}`,
  /** `name`: the payment key of the payment, or that of its deliveries (`deliveryLock`). */
  lock: (name: string) => `lock:${name}`
} as const

/** The partition of a merchant: stable for ever, which is why the number of partitions is fixed at birth. */
export function partitionOf(merchantId: string, partitions: number): number {
  return Number.parseInt(hash('sha256', merchantId).slice(0, 8), 16) % partitions
}

/** The partition that a key is tagged with; undefined for a key of the installation. */
export function partitionOfKey(key: string): number | undefined {
  const digits = /^\{p(\d+)\}/.exec(key)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The numbers of all partitions of an installation that has `count` of them. */
export function partitionNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, partition) => partition)
}

const uuids = new V7Generator()
// An id has the time that it was made for, and no later one, when that time was set back a little.
uuids.setRollbackAllowance(0)

/**
 * A new payment id: a UUIDv7 whose last three digits are the partition. Ids sort by time, and so does the list of payments:
 * the time is that of the payment, which a machine with a wrong clock gets from Redis (redis-clock.ts).
 */
export function newPaymentId(partition: number, nowMs: number): string {
  const id = uuids.generateOrResetWithTs(nowMs).toString()
  return id.slice(0, -3) + partition.toString(16).padStart(3, '0')
}

/** When a payment was created, from its id (ms). */
export function createdAtMs(paymentId: string): number {
  return Number.parseInt(paymentId.replaceAll('-', '').slice(0, 12), 16)
}

/** The partition that a payment id names. Any UUID has one; whether the payment exists is another question. */
export function partitionOfPayment(paymentId: string): number {
  return Number.parseInt(paymentId.slice(-3), 16)
}

/**
 * The id of an idempotency record: 132 bits of a hash over merchant and key, as 22 characters, because a key may be
 * 255 characters long.
 */
export function idempotencyRecordIdOf(merchantId: string, idempotencyKey: string): string {
  return shortHash(`${merchantId}\n${idempotencyKey}`)
}

/** 132 bits of SHA-256 as 22 characters of base64url. */
export function shortHash(text: string): string {
  // Encoded by the one call that hashes: a third of the time of a buffer that is cut and encoded afterwards.
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** The first digits of SHA-256, in hex. */
export function digest(text: string, digits: number): string {
  return hash('sha256', text).slice(0, digits)
}

/** What decides about the slot of a key: what stands between its first braces, or all of it. */
function tagOf(key: string): string {
  const [start, end] = [key.indexOf('{'), key.indexOf('}')]
  return start !== -1 && end > start + 1 ? key.slice(start + 1, end) : key
}

function tag(partition: number): string {
  return `{p${String(partition).padStart(2, '0')}}`
}

/**
 * 26 characters instead of 36, in an alphabet that keeps the order of the ids: a payment's key and its index entries
 * are a good part of its memory.
 */
export function paymentKeyOf(paymentId: string): string {
  return BigInt(`0x${paymentId.replaceAll('-', '')}`)
    .toString(32)
    .padStart(26, '0')
}

/** The payment key before those of all payments that were created at `atMs` or later. */
export function firstPaymentKeyAt(atMs: number): string {
  return paymentKeyOf(Math.max(0, atMs).toString(16).padStart(12, '0').padEnd(32, '0'))
}

/**
 * The payment id behind a payment key. Twenty bits at a time, which are four of our digits and five of the payment id's:
 * the two digits at the front are what is left of 128 bits. Throws `RangeError` for what is no payment key.
 */
export function paymentIdOfKey(paymentKey: string): string {
  let hex = hexOf(paymentKey.slice(0, 2), 2)
  for (let at = 2; at < paymentKey.length; at += 4) hex += hexOf(paymentKey.slice(at, at + 4), 5)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function hexOf(digits: string, width: number): string {
  const value = Number.parseInt(digits, 32)
  if (Number.isNaN(value)) throw new RangeError(`"${digits}" is no part of a payment key.`)
  return value.toString(16).padStart(width, '0')
}
