/**
 * Writing decisions: `commit` for one that changes a payment, `finish` and `refuse` for those that do not.
 *
 * Each is one script: the change of status, its webhook event, the indexes, the next due time, the result for
 * the waiting request and the acknowledgement of the command happen together or not at all (invariants 5 and 6).
 */
import type { CommandResult } from '../../machines/commands.js'
import { DAY_MS } from '../../machines/durations.js'
import type { Payment, PaymentProgress, PaymentStatus, RefusalCode } from '../../machines/model.js'
import type { OperationResult } from '../../machines/payment/decide.js'
import type { WakeTimes } from '../../machines/payment/wake-ups.js'
import { statusChangeOf } from '../../machines/status-change.js'
import { RETENTION_DAYS } from '../../machines/webhook-delivery.js'
import { type CommandEntry, ownerOf } from '../commands/command-entry.js'
import { encodeReply, type WorkerTimes } from '../commands/replies.js'
import type { Writes } from '../connection/writes.js'
import { idempotencyRecordIdOf, keys, PAYMENTS_GROUP, paymentKeyOf } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { encodeWaiting } from '../webhooks/webhook-event.js'
import { type Begin, createBegin } from './authorisation-marks.js'
import { encodeResult } from './idempotency.js'
import { indexedSaleId } from './payment-indexes.js'
import { encodePayment } from './payment-record.js'

const commit = defineNamedScript<{ keys: keyof ReturnType<typeof keysOf>; given: ReturnType<typeof givenOf> }>('commit')
const finish = defineNamedScript<{
  keys: 'idempotency' | 'commands' | 'payment' | 'due' | 'reconcile'
  given: ReturnType<typeof ownerOf> & Reply & Ending
}>('finish')

/** One decision, ready to be written. */
export interface Commit {
  /** The payment after the decision; its version is one above the expected one. */
  readonly payment: Payment
  readonly statusBefore: PaymentStatus
  readonly wake: WakeTimes
  readonly operationResult: OperationResult | null
  readonly nowMs: number
  /** The command that ends with this commit, or null while an effect is still to be performed. */
  readonly ends: CommandEntry | null
  /** The command that begins with this commit: it must still be with its consumer. */
  readonly begins: CommandEntry | null
  /** Sent along with the reply. */
  readonly times?: WorkerTimes
  /** The recorded step that webhooks of the change are linked to. */
  readonly traceparent?: string | null
}

/**
 * Nothing was written for the last three. `taken_over`: the command that was to begin belongs to another worker by now.
 * `answered`: its request has its result, from another command of the same request.
 */
export type CommitOutcome = 'committed' | 'version_conflict' | 'taken_over' | 'answered'

export interface CommitStore {
  /** Before an authorisation, the one call that no commit precedes. */
  readonly begin: Begin
  commit(write: Commit, partition: number): Promise<CommitOutcome>
  /** Ends a command without a change and without a result, if it is still with this worker. */
  finish(entry: CommandEntry): Promise<void>
  /**
   * Ends a request that its payment, read in this version, refuses, if it is still with this worker. False: the payment has
   * changed since, and another command of the same request may have begun: decide again.
   */
  refuse(entry: CommandEntry, code: RefusalCode, version: number, times?: WorkerTimes): Promise<boolean>
  /** Ends a wake-up that its payment, read in this version, does not need; null: the payment is not in Redis. */
  endWakeUp(entry: CommandEntry, version: number | null): Promise<void>
}

export function createCommitStore(writes: Writes): CommitStore {
  /** The script publishes the reply, except where replicas must confirm the write first. */
  const inScript = (reply: Reply): Reply => (writes.isReplicated ? {} : reply)
  const publishReply = async ({ channel, reply }: Reply): Promise<void> => {
    if (writes.isReplicated && channel !== undefined && reply !== undefined) {
      // A lost reply costs time, nothing else.
      await writes.redis.publish(channel, reply).catch(() => undefined)
    }
  }
  const end = async (entry: CommandEntry, ending: Ending = {}, reply: Reply = {}): Promise<number> => {
    const { partition, idempotencyRecordId, paymentKey } = entry
    const scriptKeys = {
      idempotency: keys.idempotency(partition, idempotencyRecordId),
      commands: keys.commands(partition),
      payment: keys.payment(partition, paymentKey),
      due: keys.due(partition),
      reconcile: keys.reconcile(partition)
    }
    const given = { ...ownerOf(PAYMENTS_GROUP, entry), ...ending, ...inScript(reply) }
    return Number(await writes.run(scriptKeys.commands, node => finish(node, scriptKeys, given)))
  }
  return {
    begin: createBegin(writes),

    async commit(write, partition) {
      const reply = replyOf(write)
      const scriptKeys = keysOf(write, partition)
      const given = givenOf(write, inScript(reply))
      const answer = await writes.run(scriptKeys.commands, node => commit(node, scriptKeys, given))
      const refused = OUTCOMES[Number(answer)]
      if (refused !== undefined) return refused
      writes.saw(partition, Number(answer))
      await publishReply(reply)
      return 'committed'
    },

    async finish(entry) {
      await end(entry)
    },

    async refuse(entry, code, version, times) {
      const result: CommandResult = { kind: 'refused', code }
      const reply = replyTo(entry, encodeReply(entry, result, null, times))
      const ended = await end(entry, { result: encodeResult(result), version: String(version) }, reply)
      if (ended === 1) await publishReply(reply)
      return ended !== CHANGED
    },

    async endWakeUp(entry, version) {
      await end(entry, { unneeded: entry.paymentKey, version: version?.toString() })
    }
  }
}

/** What finish.lua answers when the payment is no longer what refused the request. */
const CHANGED = -1
/** What commit.lua answers when nothing was written. */
const OUTCOMES: Readonly<Record<number, CommitOutcome>> = {
  [-1]: 'version_conflict',
  [-2]: 'taken_over',
  [-3]: 'answered'
}

/** For the request that waits; without a channel none does. */
type Reply = {
  readonly channel?: string | undefined
  readonly reply?: string
}

/** How a command ends without a change (finish.lua). */
type Ending = {
  /** Of a request that its payment refuses. */
  readonly result?: string | undefined
  /** Payment key of a wake-up that its payment does not need. */
  readonly unneeded?: string
  /** Of the payment, for both. */
  readonly version?: string | undefined
}

function replyTo({ replyTo }: CommandEntry, message: string): Reply {
  return replyTo === null ? {} : { channel: replyTo.channel, reply: message }
}

function replyOf({ payment, operationResult, ends, times }: Commit): Reply {
  if (ends === null) return {}
  return replyTo(ends, encodeReply(ends, replyResult(ends, operationResult), payment.progress, times))
}

function keysOf(write: Commit, partition: number) {
  const { payment, statusBefore } = write
  const { terms, progress } = payment
  const paymentKey = paymentKeyOf(terms.id)
  return {
    payment: keys.payment(partition, paymentKey),
    idempotency: keys.idempotency(partition, idempotencyRecordIdFor(write)),
    commands: keys.commands(partition),
    due: keys.due(partition),
    reconcile: keys.reconcile(partition),
    inDoubt: keys.inDoubt(partition),
    review: keys.review(partition),
    sales: keys.sales(partition, indexedSaleId(progress)),
    before: keys.byStatus(partition, terms.merchantId, statusBefore),
    after: keys.byStatus(partition, terms.merchantId, progress.status),
    begun: keys.begun(partition),
    counter: keys.commitCounter(partition),
    endpoint: keys.webhookEndpoint(partition, terms.merchantId),
    events: keys.webhookEvents(partition, paymentKey),
    deliveries: keys.deliveries(partition),
    undeliverable: keys.webhookUndeliverable(partition, terms.merchantId)
  }
}

/** The record of a capture or cancel that begins must be open: its request may have been answered meanwhile. */
function mustBeOpen({ begins }: Commit): boolean {
  return begins !== null && (begins.command.kind === 'capture' || begins.command.kind === 'cancel')
}

/**
 * The idempotency record that gets its result, or must be open: as a rule that of the command, whose id need not be hashed
 * again.
 */
function idempotencyRecordIdFor({ payment, operationResult, ends, begins }: Commit): string | null {
  if (operationResult === null) return begins?.idempotencyRecordId ?? null
  const entry = ends ?? begins
  if (entry?.idempotencyRecordId && entry.idempotencyKey === operationResult.idempotencyKey)
    return entry.idempotencyRecordId
  return idempotencyRecordIdOf(payment.terms.merchantId, operationResult.idempotencyKey)
}

function givenOf(write: Commit, reply: Reply) {
  const { payment, operationResult, wake, ends, begins } = write
  const { terms, progress } = payment
  const paymentKey = paymentKeyOf(terms.id)
  return {
    version: String(payment.version - 1),
    record: encodePayment(payment),
    member: paymentKey,
    expiryMs: wake.expiryAtMs ?? undefined,
    reconcileMs: wake.reconcileAtMs ?? undefined,
    doubtMs: inDoubtSinceMs(progress) ?? undefined,
    reason: progress.reviewReason ?? undefined,
    sale: indexedSaleId(progress) || undefined,
    group: PAYMENTS_GROUP,
    ends: ends?.entryId,
    begins: begins?.entryId,
    consumer: begins?.consumer ?? undefined,
    mustBeOpen: mustBeOpen(write) || undefined,
    result: encodeResult(operationResult?.result ?? null),
    ...reply,
    ...eventOf(write, paymentKey)
  }
}

/** Nothing without a change of status. */
function eventOf({ payment, statusBefore, nowMs, traceparent }: Commit, paymentKey: string) {
  if (statusBefore === payment.progress.status) return {}
  const { terms } = payment
  const lineMember = { paymentKey, merchantId: terms.merchantId }
  const undeliverableMs = RETENTION_DAYS * DAY_MS
  return { ...encodeWaiting(statusChangeOf(payment, nowMs), terms, lineMember, traceparent), undeliverableMs }
}

/** Null for a payment that has its outcome, and is only looked for once more (`failed.watched`): not in doubt. */
function inDoubtSinceMs({ phase, reconciliation }: PaymentProgress): number | null {
  if (reconciliation === null || (phase === 'watched' && reconciliation.attempts === 0)) return null
  return reconciliation.sinceMs
}

/** The operation result may belong to an older command (reconciliation); the waiting request wants its own. */
function replyResult(entry: CommandEntry, operationResult: OperationResult | null): CommandResult | null {
  return operationResult !== null && operationResult.idempotencyKey === entry.idempotencyKey
    ? operationResult.result
    : null
}
