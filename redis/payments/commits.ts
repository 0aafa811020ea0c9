/**
 * Writing decisions: `commit` for one that changes a payment, `finish` and `refuse` for those that do not.
 *
 * Each is one script: the change of status, its webhook event, the indexes, the next due time, the result for
 * the waiting request and the acknowledgement of the command happen together or not at all (invariants 5 and 6).
 */
import type { CommandResult } from '../../machines/commands.js'
import type { Payment, PaymentProgress, PaymentStatus, RefusalCode } from '../../machines/model.js'
import type { OperationResult, WakeTimes } from '../../machines/payment/decide.js'
import { statusChangeOf } from '../../machines/status-change.js'
import type { CommandEntry } from '../commands/command-entry.js'
import { encodeReply, type WorkerTimes } from '../commands/replies.js'
import type { Writes } from '../connection/writes.js'
import { idempotencyRecord, keys, PAYMENTS_GROUP, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'
import { encodePlace } from '../webhooks/delivery-entry.js'
import { encodeWaiting } from '../webhooks/webhook-event.js'
import { type Begin, createBegin } from './beginnings.js'
import { encodeResult } from './idempotency.js'
import { indexedSaleId } from './payment-indexes.js'
import { encodePayment } from './payment-record.js'

const commit = defineScript('commit')
const finish = defineScript('finish')

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
  /** The script publishes the wake-up, except where replicas must confirm the write first. */
  const inScript = (reply: Reply): Reply => (writes.isReplicated ? NO_REPLY : reply)
  const wakeAfterwards = async (reply: Reply): Promise<void> => {
    if (writes.isReplicated && reply.channel !== '') {
      // A lost wake-up costs time, nothing else.
      await writes.redis.publish(reply.channel, reply.message).catch(() => undefined)
    }
  }
  const end = async (entry: CommandEntry, reply: Reply, result: string, version: string): Promise<number> => {
    const { partition, record, paymentKey, entryId, consumer } = entry
    const stream = keys.commands(partition)
    const scriptKeys = [keys.idempotency(partition, record ?? 'none'), stream, keys.payment(partition, paymentKey)]
    const { channel, message } = inScript(reply)
    const scriptArgs = [result, PAYMENTS_GROUP, entryId, consumer, channel, message, '', version]
    return Number(await writes.run(stream, node => finish(node, scriptKeys, scriptArgs)))
  }
  return {
    begin: createBegin(writes),

    async commit(write, partition) {
      const reply = replyOf(write)
      const scriptKeys = scriptKeysOf(write, partition)
      const scriptArgs = [...scriptArgsOf(write, inScript(reply)), ...eventOf(write)]
      const answer = await writes.run(keys.commands(partition), node => commit(node, scriptKeys, scriptArgs))
      const refused = OUTCOMES[Number(answer)]
      if (refused !== undefined) return refused
      writes.saw(partition, Number(answer))
      await wakeAfterwards(reply)
      return 'committed'
    },

    async finish(entry) {
      await end(entry, NO_REPLY, '', '')
    },

    async refuse(entry, code, version, times) {
      const result: CommandResult = { kind: 'refused', code }
      const reply = { channel: entry.replyTo?.channel ?? '', message: encodeReply(entry, result, null, times) }
      const ended = await end(entry, reply, encodeResult(result), String(version))
      if (ended === 1) await wakeAfterwards(reply)
      return ended !== CHANGED
    },

    async endWakeUp({ partition, entryId, consumer, paymentKey }, version) {
      const stream = keys.commands(partition)
      const lists = [keys.payment(partition, paymentKey), keys.due(partition), keys.reconcile(partition)]
      const scriptKeys = [keys.idempotency(partition, 'none'), stream, ...lists]
      const scriptArgs = ['', PAYMENTS_GROUP, entryId, consumer, '', '', paymentKey, version ?? '']
      await writes.run(stream, node => finish(node, scriptKeys, scriptArgs))
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

/** A wake-up on its way; channel '': no request waits. */
interface Reply {
  readonly channel: string
  readonly message: string
}

const NO_REPLY: Reply = { channel: '', message: '' }

function replyOf({ payment, operationResult, ends, times }: Commit): Reply {
  if (ends === null) return NO_REPLY
  const message = encodeReply(ends, replyResult(ends, operationResult), payment.progress, times)
  return { channel: ends.replyTo?.channel ?? '', message }
}

/** KEYS of commit.lua. */
function scriptKeysOf(write: Commit, partition: number): string[] {
  const { payment, statusBefore } = write
  const { terms, progress } = payment
  const paymentKey = paymentKeyOf(terms.id)
  return [
    keys.payment(partition, paymentKey),
    keys.due(partition),
    keys.review(partition),
    keys.webhookEndpoint(partition, terms.merchantId),
    keys.webhookEvents(partition, paymentKey),
    keys.idempotency(partition, recordOf(write)),
    keys.commands(partition),
    keys.inDoubt(partition),
    keys.sales(partition, indexedSaleId(progress)),
    keys.reconcile(partition),
    keys.byStatus(partition, terms.merchantId, statusBefore),
    keys.byStatus(partition, terms.merchantId, progress.status),
    keys.deliveries(partition),
    keys.webhookUndeliverable(partition, terms.merchantId),
    keys.begun(partition),
    keys.commitCounter(partition)
  ]
}

/** Of a capture or cancel that begins the record must be open: its request may have been answered meanwhile. */
function mustBeOpen({ begins }: Commit): boolean {
  return begins !== null && (begins.command.kind === 'capture' || begins.command.kind === 'cancel')
}

/**
 * The idempotency record that gets its result, or must be open. That of the command as a rule, whose name need not be hashed
 * again.
 */
function recordOf({ payment, operationResult, ends, begins }: Commit): string {
  if (operationResult === null) return begins?.record ?? 'none'
  const entry = ends ?? begins
  if (entry?.record && entry.idempotencyKey === operationResult.idempotencyKey) return entry.record
  return idempotencyRecord(payment.terms.merchantId, operationResult.idempotencyKey)
}

/** The last ARGV of commit.lua: none without a change of status. */
function eventOf({ payment, statusBefore, nowMs, traceparent }: Commit): string[] {
  if (statusBefore === payment.progress.status) return []
  const { about, short } = encodeWaiting(statusChangeOf(payment, nowMs), payment.terms, traceparent)
  return [short, about, String(nowMs)]
}

/** ARGV of commit.lua, but for the last ones. */
function scriptArgsOf(write: Commit, reply: Reply): (string | number)[] {
  const { payment, operationResult } = write
  const { terms, progress } = payment
  const paymentKey = paymentKeyOf(terms.id)
  return [
    payment.version - 1,
    encodePayment(payment),
    paymentKey,
    write.wake.expiryAtMs ?? '',
    progress.reviewReason ?? '',
    encodeResult(operationResult?.result ?? null),
    PAYMENTS_GROUP,
    write.ends?.entryId ?? '',
    reply.channel,
    reply.message,
    write.begins?.entryId ?? '',
    encodePlace({ paymentKey, merchantId: terms.merchantId }),
    inDoubtSinceMs(progress) ?? '',
    indexedSaleId(progress),
    write.wake.reconcileAtMs ?? '',
    write.begins?.consumer ?? '',
    mustBeOpen(write) ? 1 : ''
  ]
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
