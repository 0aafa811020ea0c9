/**
 * Payments on the durable Redis: reading them, and accepting what merchants ask of them.
 *
 * Accepting is one script: after it the request is durable and will end in a result, also after a crash.
 */
import type { Command } from '../../machines/commands.js'
import type { Payment, RefusalCode } from '../../machines/model.js'
import { encodeEntry, encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { decodeIdempotency, encodeIdempotency, type IdempotencyValue } from './idempotency.js'
import { type ListQuery, listPage, type PaymentPage } from './list-payments.js'
import { referencePrefix } from './payment-indexes.js'
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
    isKnown: boolean
    fields: readonly string[] | undefined
  }
}>('accept_operation')

/** What every accepted request carries besides its command. */
export interface Acceptance {
  readonly partition: number
  readonly idempotencyKey: string
  readonly idempotencyRecordId: string
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
  /** The payment has a refund under the key of this request (`knownRefund`). */
  readonly isKnown: boolean
}

/**
 * - `accepted`: the command is in the stream, or its refusal is recorded
 * - `earlier`: a request with the same key came before
 * - `known`: nothing was done, because the payment has a refund under the key, whose record is gone or whose command may be lost
 * - `changed`: nothing was done, because the payment is not the one that was read
 *
 * A payment that is null has left for the archive meanwhile.
 */
export type OperationAccepted =
  | { readonly kind: 'accepted'; readonly payment: Payment }
  | { readonly kind: 'earlier'; readonly payment: Payment | null; readonly earlier: IdempotencyValue }
  | { readonly kind: 'known'; readonly payment: Payment }
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
  readIdempotency(partition: number, idempotencyRecordId: string): Promise<IdempotencyValue | null>
  /** Null when there is no such payment. The caller compares the merchant. */
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

export function createPaymentStore(writes: Writes): PaymentStore {
  const { redis } = writes
  const load = loadFrom(redis)
  return {
    async acceptPayment(payment, command, acceptance, retentionMs) {
      const { partition, idempotencyRecordId, fingerprint } = acceptance
      const { id, merchantId, externalReference } = payment.terms
      const paymentKey = paymentKeyOf(id)
      const scriptKeys = {
        idempotency: keys.idempotency(partition, idempotencyRecordId),
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

    async acceptOperation({ payment, command, refusal, isKnown }, acceptance, retentionMs) {
      const { partition, idempotencyRecordId, fingerprint } = acceptance
      const paymentKey = paymentKeyOf(payment.terms.id)
      const result = refusal === null ? null : ({ kind: 'refused', code: refusal } as const)
      const scriptKeys = {
        idempotency: keys.idempotency(partition, idempotencyRecordId),
        payment: keys.payment(partition, paymentKey),
        commands: keys.commands(partition),
        counter: keys.commitCounter(partition)
      }
      const given = {
        request: encodeIdempotency({ fingerprint, paymentKey, kind: command.kind, result }),
        lifeMs: retentionMs,
        version: String(payment.version),
        mayBeItself: refusal === 'operation_in_progress',
        isKnown,
        fields: refusal === null ? acceptedEntry(paymentKey, command, acceptance) : undefined
      }
      const answer = await writes.run(scriptKeys.commands, node => acceptOperation(node, scriptKeys, given))
      return operationAccepted(answer, payment, counter => writes.saw(partition, counter))
    },

    async readIdempotency(partition, idempotencyRecordId) {
      const value = await redis.get(keys.idempotency(partition, idempotencyRecordId))
      return value === null ? null : decodeIdempotency(value)
    },

    load,
    loadForChange: load,
    replaceArchived: async () => undefined,

    list: (query, signal) => listPage(redis, query, signal),

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
  if (kind === 'accepted') {
    saw(Number(stored))
    return { kind, payment }
  }
  if (kind === 'known') return { kind, payment }
  const current = stored === '' ? null : decodePayment(String(stored), paymentKeyOf(payment.terms.id))
  return kind === 'earlier'
    ? { kind, payment: current, earlier: decodeIdempotency(earlier) }
    : { kind, payment: current }
}

/** The fields of a new command in its stream. */
function acceptedEntry(paymentKey: string, command: Command, acceptance: Acceptance): string[] {
  return encodeEntry({ ...acceptance, paymentKey, command, deliveryCount: 0, dueAtMs: null })
}
