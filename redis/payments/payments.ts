/**
 * Payments on the durable Redis: reading them, and accepting what merchants ask of them.
 *
 * Accepting is one script: after it the request is durable and will end in a result, also after a crash.
 */
import type { Command } from '../../machines/commands.js'
import { type Payment, type PaymentStatus, paymentStatuses, type RefusalCode } from '../../machines/model.js'
import { encodeEntry, encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOfPayment, paymentIdOfKey, paymentKeyOf } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { decodeIdempotency, encodeIdempotency, type IdempotencyValue } from './idempotency.js'
import { type IndexRange, newestOf, referencePrefix } from './payment-indexes.js'
import { decodePayment, encodePayment } from './payment-record.js'

const acceptPayment = defineNamedScript<{
  keys: 'idempotency' | 'payment' | 'commands' | 'pending' | 'references' | 'reconcile' | 'counter'
  given: {
    request: string
    lifeMs: number | undefined
    payment: string
    member: string
    reference: string
    wakeAtMs: number
    fields: readonly string[]
  }
}>('accept_payment')
const acceptOperation = defineNamedScript<{
  keys: 'idempotency' | 'payment' | 'commands' | 'counter'
  given: {
    request: string
    lifeMs: number
    version: string
    mayBeItself: boolean
    fields: readonly string[] | undefined
  }
}>('accept_operation')

/** What every accepted request carries besides its command. */
export interface Acceptance {
  readonly partition: number
  readonly idempotencyKey: string
  readonly record: string
  readonly fingerprint: string
  readonly replyTo: { readonly channel: string; readonly commandId: string }
  readonly correlationId: string | null
  readonly traceparent: string | null
}

/** A capture or cancel, and what the chart says about it for the payment as it was read. */
export interface OperationRequest {
  readonly payment: Payment
  readonly command: Command & { kind: 'capture' | 'cancel' }
  /** Null: the payment takes the command. */
  readonly refusal: RefusalCode | null
}

/**
 * - `accepted`: the command is in the stream, or its refusal is recorded
 * - `earlier`: a request with the same key came before
 * - `changed`: nothing was done, because the payment is not the one that was read
 *
 * A payment that is null has left for the archive meanwhile.
 */
export type OperationAccepted =
  | { readonly kind: 'accepted'; readonly payment: Payment }
  | { readonly kind: 'earlier'; readonly payment: Payment | null; readonly earlier: IdempotencyValue }
  | { readonly kind: 'changed'; readonly payment: Payment | null }

export interface PaymentStore {
  /** Null: accepted. Else what an earlier request with the same key left. Without `retentionMs` it is kept for ever. */
  acceptPayment(
    payment: Payment,
    command: Command & { kind: 'create' },
    acceptance: Acceptance,
    retentionMs?: number | null
  ): Promise<IdempotencyValue | null>
  acceptOperation(request: OperationRequest, acceptance: Acceptance, retentionMs: number): Promise<OperationAccepted>
  readIdempotency(partition: number, record: string): Promise<IdempotencyValue | null>
  /** Null when there is no such payment. Ownership is the caller's question. */
  load(partition: number, paymentKey: string): Promise<Payment | null>
  /** The same for a caller that is about to change the payment: on return it is in Redis. */
  loadForChange(partition: number, paymentKey: string, merchantId?: string): Promise<Payment | null>
  /** On return no version before this one, which is in Redis, is in the archive or can get there. */
  replaceArchived(payment: Payment): Promise<void>
  /** Newest first; rejects once `signal` aborts. A page may have fewer payments than `limit`, even none: only a null `nextAfterId` is the end. */
  list(filter: ListQuery, signal?: AbortSignal): Promise<PaymentPage>
  /** Wakes a payment as if `dueAtMs` had come. A payment for which nothing is due by then stays as it is. */
  wake(paymentId: string, dueAtMs: number): Promise<void>
}

export interface PaymentPage {
  readonly payments: readonly Payment[]
  /** Id from which the next page starts; null on the last page. */
  readonly nextAfterId: string | null
}

/** Which payments of a merchant are listed. Null: any. */
export interface ListFilter extends IndexRange {
  readonly status: PaymentStatus | null
  readonly externalReference: string | null
  readonly limit: number
}

export interface ListQuery extends ListFilter {
  readonly partition: number
  readonly merchantId: string
}

export function createPaymentStore(writes: Writes): PaymentStore {
  const { redis } = writes
  const load = loadFrom(redis)
  return {
    async acceptPayment(payment, command, acceptance, retentionMs) {
      const { partition, record, fingerprint } = acceptance
      const { id, merchantId, externalReference } = payment.terms
      const paymentKey = paymentKeyOf(id)
      const scriptKeys = {
        idempotency: keys.idempotency(partition, record),
        payment: keys.payment(partition, paymentKey),
        commands: keys.commands(partition),
        pending: keys.byStatus(partition, merchantId, 'pending'),
        references: keys.byReference(partition, merchantId),
        reconcile: keys.reconcile(partition),
        counter: keys.commitCounter(partition)
      }
      const given = {
        request: encodeIdempotency({ fingerprint, paymentKey, kind: 'create', result: null }),
        lifeMs: retentionMs ?? undefined,
        payment: encodePayment(payment),
        member: paymentKey,
        reference: `${referencePrefix(externalReference)}${paymentKey}`,
        // Finds the payment also if its command is lost.
        wakeAtMs: command.authoriseByMs + 1,
        fields: acceptedEntry(paymentKey, command, acceptance)
      }
      const answer = await writes.run(scriptKeys.commands, node => acceptPayment(node, scriptKeys, given))
      if (typeof answer === 'string') return decodeIdempotency(answer)
      writes.saw(partition, Number(answer))
      return null
    },

    async acceptOperation({ payment, command, refusal }, acceptance, retentionMs) {
      const { partition, record, fingerprint } = acceptance
      const paymentKey = paymentKeyOf(payment.terms.id)
      const result = refusal === null ? null : ({ kind: 'refused', code: refusal } as const)
      const scriptKeys = {
        idempotency: keys.idempotency(partition, record),
        payment: keys.payment(partition, paymentKey),
        commands: keys.commands(partition),
        counter: keys.commitCounter(partition)
      }
      const given = {
        request: encodeIdempotency({ fingerprint, paymentKey, kind: command.kind, result }),
        lifeMs: retentionMs,
        version: String(payment.version),
        mayBeItself: refusal === 'operation_in_progress',
        fields: refusal === null ? acceptedEntry(paymentKey, command, acceptance) : undefined
      }
      const answer = await writes.run(scriptKeys.commands, node => acceptOperation(node, scriptKeys, given))
      return operationAccepted(answer, payment, counter => writes.saw(partition, counter))
    },

    async readIdempotency(partition, record) {
      const value = await redis.get(keys.idempotency(partition, record))
      return value === null ? null : decodeIdempotency(value)
    },

    load,
    loadForChange: load,
    replaceArchived: async () => undefined,

    list: (query, signal) =>
      query.externalReference === null
        ? listByStatus(redis, query, signal)
        : listByReference(redis, query, query.externalReference, signal),

    async wake(paymentId, dueAtMs) {
      const stream = keys.commands(partitionOfPayment(paymentId))
      await writes.run(stream, node =>
        node.xadd(stream, '*', ...encodeServiceCommand(paymentId, { kind: 'wake' }, dueAtMs))
      )
    }
  }
}

function loadFrom(redis: Redis): PaymentStore['load'] {
  return async (partition, paymentKey) => {
    const stored = await redis.get(keys.payment(partition, paymentKey))
    return stored === null ? null : decodePayment(stored, paymentKey)
  }
}

/** What accept_operation.lua answered about `payment`. */
function operationAccepted(answer: unknown, payment: Payment, saw: (count: number) => void): OperationAccepted {
  const [kind, stored = '', earlier = ''] = answer as [OperationAccepted['kind'], (string | number)?, string?]
  if (typeof stored === 'number') {
    saw(stored)
    return { kind: 'accepted', payment }
  }
  const current = stored === '' ? null : decodePayment(stored, paymentKeyOf(payment.terms.id))
  if (kind === 'earlier') return { kind, payment: current, earlier: decodeIdempotency(earlier) }
  return { kind: 'changed', payment: current }
}

/** The fields of a new command in its stream. */
function acceptedEntry(paymentKey: string, command: Command, acceptance: Acceptance): string[] {
  return encodeEntry({ ...acceptance, paymentKey, command, deliveryCount: 0, dueAtMs: null })
}

/** The indexes name the payments that come into question. */
async function listByStatus(redis: Redis, query: ListQuery, signal?: AbortSignal): Promise<PaymentPage> {
  const { partition, merchantId, status } = query
  const statuses = status === null ? paymentStatuses : [status]
  const indexes = statuses.map(one => keys.byStatus(partition, merchantId, one))
  const count = query.limit + 1
  return await readPage(redis, query, await newestOf(redis, indexes, '', query, count), count, signal)
}

/**
 * All payments of one order id: a handful as a rule, so the status filter may come after loading. Of an order id that is
 * used for thousands, one page looks through `REFERENCE_SCAN_MAX`, and the next page continues after them.
 */
async function listByReference(
  redis: Redis,
  query: ListQuery,
  externalReference: string,
  signal?: AbortSignal
): Promise<PaymentPage> {
  const { partition, merchantId, status } = query
  const indexes = [keys.byReference(partition, merchantId)]
  const count = status === null ? query.limit + 1 : REFERENCE_SCAN_MAX
  const found = await newestOf(redis, indexes, referencePrefix(externalReference), query, count)
  return await readPage(redis, query, found, count, signal)
}

/** More than the largest page. */
const REFERENCE_SCAN_MAX = 500
/**
 * With as much metadata as is allowed, a hundred payments are four megabytes, and ten such pages a second kept all other
 * merchants waiting for seconds. A page of usual payments is well below this.
 */
export const PAGE_CHARACTERS_MAX = 128 * 1_024
/** The usual page in one read: each one waits for the writes of others to be on the disk. */
const READ_AT_ONCE = 25

/**
 * The first of `ids` that fill a page. A payment whose status changed between the index and its record is left out, so
 * that a page may be short; so may one that is full of metadata.
 */
async function readPage(
  redis: Redis,
  { partition, status, externalReference, limit }: ListQuery,
  ids: readonly string[],
  taken: number,
  signal?: AbortSignal
): Promise<PaymentPage> {
  const payments: Payment[] = []
  let seen = 0
  let characters = 0
  const isWanted = ({ terms, progress }: Payment): boolean =>
    (status === null || progress.status === status) &&
    (externalReference === null || terms.externalReference === externalReference)
  let records: (string | null)[] = []
  while (seen < ids.length && payments.length < limit && characters < PAGE_CHARACTERS_MAX) {
    const at = seen % READ_AT_ONCE
    if (at === 0) {
      signal?.throwIfAborted()
      const some = ids.slice(seen, seen + READ_AT_ONCE)
      records = await redis.mget(some.map(paymentKey => keys.payment(partition, paymentKey)))
    }
    const [record, paymentKey = ''] = [records[at] ?? '', ids[seen]]
    seen++
    characters += record.length
    const payment = record === '' ? null : decodePayment(record, paymentKey)
    if (payment !== null && isWanted(payment)) payments.push(payment)
  }
  const last = seen < ids.length || ids.length === taken ? ids[seen - 1] : undefined
  return { payments, nextAfterId: last === undefined ? null : paymentIdOfKey(last) }
}
