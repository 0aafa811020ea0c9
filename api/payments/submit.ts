/**
 * Submits payment requests as durable commands, and waits for their results.
 *
 * If this process dies before the acceptance, nothing was accepted, and a repeat of the request starts anew. If it dies
 * after it, the command is durable and a worker executes it; a repeat of the request finds its record.
 */
import { randomUUID } from 'node:crypto'
import type { Command } from '../../machines/commands.js'
import { DAY_MS } from '../../machines/durations.js'
import {
  isOpenFor,
  newPayment,
  type Payment,
  type PaymentProgress,
  type PaymentTerms,
  type RefusalCode
} from '../../machines/model.js'
import { decide } from '../../machines/payment/decide.js'
import type { RequestEvent } from '../../machines/payment/events.js'
import { requestEvent } from '../../machines/payment/make-event.js'
import { type PolicySettings, vouchedPolicy } from '../../machines/payment/policy.js'
import { hasRefundOf, knownRefund } from '../../machines/payment/refunds.js'
import type { Backlog } from '../../redis/commands/backlog.js'
import type { ExpectedReply, ReplyListener } from '../../redis/commands/replies.js'
import { untilAnswered } from '../../redis/connection/until-answered.js'
import {
  createdAtMs as createdAtMsOf,
  idempotencyRecordIdOf,
  newPaymentId,
  partitionOf,
  paymentIdOfKey,
  paymentKeyOf
} from '../../redis/keys.js'
import type { IdempotencyValue } from '../../redis/payments/idempotency.js'
import type { Acceptance, OperationRequest, PaymentStore } from '../../redis/payments/payments.js'
import type { Config } from '../../runtime/config.js'
import { overloaded } from '../http/admission.js'
import { apiMetrics } from '../http/api-metrics.js'
import { ServiceError } from '../http/service-error.js'
import { accept } from './accept-request.js'
import { answerAtOnce } from './answer-at-once.js'
import type { CreateRequest, PaymentsPort, RequestScope, Submission } from './payments-port.js'
import { conflictOf, progressWith, replayOf } from './replay.js'
import { findCard, giveCardBack, keepCvv, type RecordedScope, type RequestCardDeps } from './request-card.js'
import { stepTimes } from './server-timing.js'

export interface SubmitDeps extends RequestCardDeps {
  readonly config: Config
  readonly store: PaymentStore
  readonly replies: ReplyListener
  readonly backlog: Pick<Backlog, 'ageMs'>
}

/** Accepts payment requests for the workers, and reads payments. */
export function createPayments(deps: SubmitDeps): PaymentsPort {
  return {
    create: (scope, request) => create(deps, recorded(deps, scope), request),
    capture: (scope, paymentId, amountCents) =>
      operate(deps, recorded(deps, scope), paymentId, { kind: 'capture', amountCents }),
    cancel: (scope, paymentId, amountCents) =>
      operate(deps, recorded(deps, scope), paymentId, { kind: 'cancel', amountCents }),

    repeat: (scope, paymentId) => repeat(deps, recorded(deps, scope), paymentId),

    async read(merchantId, paymentId) {
      const payment = await deps.store.load(partitionOf(merchantId, deps.config.partitions), paymentKeyOf(paymentId))
      return payment?.terms.merchantId === merchantId ? payment : null
    },

    list: (merchantId, filter, signal) =>
      deps.store.list({ ...filter, merchantId, partition: partitionOf(merchantId, deps.config.partitions) }, signal)
  }
}

function recorded({ config }: SubmitDeps, scope: RequestScope): RecordedScope {
  const partition = partitionOf(scope.merchantId, config.partitions)
  return { partition, idempotencyRecordId: idempotencyRecordIdOf(scope.merchantId, scope.idempotencyKey), ...scope }
}

async function create(deps: SubmitDeps, scope: RecordedScope, request: CreateRequest): Promise<Submission> {
  const startedMs = performance.now()
  const { partition, idempotencyRecordId } = scope
  await shedWhenBehind(deps, scope)
  let payment: Payment
  try {
    payment = await preparePayment(deps, scope, request)
  } catch (reason) {
    // A repeated request finds its payment, though its token is used up or the memory-only Redis is unavailable.
    const earlier = await deps.store.readIdempotency(partition, idempotencyRecordId)
    if (earlier !== null) return await replay(deps, scope, earlier)
    throw reason
  }
  const authoriseByMs = payment.terms.createdAtMs + deps.config.authoriseWithinMs
  const command: Command & { kind: 'create' } = {
    kind: 'create',
    buyer: request.buyer,
    source: request.source,
    authoriseByMs
  }
  const expected = deps.replies.expect(payment.terms.id)
  try {
    const acceptance = acceptanceOf(deps, scope, payment.terms.id)
    const createRetentionMs = deps.config.archiveUrl === '' ? null : retentionMs(deps.config)
    const { answer: found } = await accept(
      acceptance,
      () => deps.store.acceptPayment(payment, command, acceptance, createRetentionMs),
      earlier => (earlier === null ? 'accepted' : 'earlier')
    )
    // A record of this payment is our own, from an acceptance whose answer was lost.
    if (found !== null && found.paymentKey !== paymentKeyOf(payment.terms.id)) {
      await giveCardBack(deps, scope, payment.terms.id, request, found)
      return await replay(deps, scope, found)
    }
    return await resultOf(deps, scope, { payment, asked: null, expected, startedMs })
  } finally {
    expected.dispose()
  }
}

/**
 * Refuses a new payment while the workers of its partition are behind: it would only be answered 202. Captures and cancels
 * continue, because they concern money that is already on its way. So do repeats of an accepted request, which add no work.
 */
async function shedWhenBehind({ backlog, store, config }: SubmitDeps, scope: RecordedScope): Promise<void> {
  if (backlog.ageMs(scope.partition) <= config.shedAfterMs) return
  if ((await store.readIdempotency(scope.partition, scope.idempotencyRecordId)) !== null) return
  apiMetrics().shed('backlog')
  throw overloaded()
}

/** A new payment with its card and the CVV that came with it. Nothing is accepted yet. */
async function preparePayment(deps: SubmitDeps, scope: RecordedScope, request: CreateRequest): Promise<Payment> {
  const card = await findCard(deps, scope, request.source)
  const payment = newPayment(termsOf(deps, scope.merchantId, scope.partition, request, card), scope.idempotencyKey)
  await keepCvv(deps, payment.terms, request)
  return payment
}

/**
 * Refuses a command that the payment can't take before acceptance, and records the refusal under its key. The script compares
 * the version, so that decision and record are about the same payment (decision 23). A refund whose key the payment has already
 * is not accepted again: its result is the answer. After acceptance the worker decides again, because another command may come
 * first.
 */
async function operate(
  deps: SubmitDeps,
  scope: RecordedScope,
  paymentId: string,
  command: OperationRequest['command']
): Promise<Submission> {
  const startedMs = performance.now()
  const commandId = randomUUID()
  const expected = deps.replies.expect(commandId)
  const asked = requestEvent(command, scope.idempotencyKey, deps.clock.now())
  const acceptance = acceptanceOf(deps, scope, commandId)
  try {
    const load = (): Promise<Payment | null> =>
      deps.store.loadForChange(scope.partition, paymentKeyOf(paymentId), scope.merchantId)
    let { answer: payment } = await untilAnswered(load)
    while (payment?.terms.merchantId === scope.merchantId) {
      const known = knownRefund(payment.progress, asked)
      const request = { payment, command, refusal: refusalOf(payment, asked, deps.config), isKnown: known !== null }
      const answered = await accept(
        acceptance,
        () => deps.store.acceptOperation(request, acceptance, retentionMs(deps.config)),
        ({ kind }) => kind
      )
      payment = answered.answer.payment ?? (await untilAnswered(load)).answer
      if (answered.answer.kind === 'changed' || payment === null) continue
      const atOnce = answerAtOnce(scope, { payment, asked, known, refusal: request.refusal }, answered)
      return atOnce ?? (await resultOf(deps, scope, { payment, asked, expected, startedMs }))
    }
    return { kind: 'not_found' }
  } finally {
    expected.dispose()
  }
}

function retentionMs({ idempotencyRetentionDays }: Config): number {
  return idempotencyRetentionDays * DAY_MS
}

function refusalOf(payment: Payment, asked: RequestEvent, settings: PolicySettings): RefusalCode | null {
  // The worker decides again. Whether the data is vouched for changes no refusal.
  const decision = decide(payment, asked, vouchedPolicy(settings))
  return decision.kind === 'refused' ? decision.code : null
}

/** Waits for the reply. Without one in time, the stored result is the authority. */
async function resultOf(
  deps: SubmitDeps,
  scope: RecordedScope,
  pending: { payment: Payment; asked: RequestEvent | null; expected: ExpectedReply; startedMs: number }
): Promise<Submission> {
  const { partition, idempotencyRecordId } = scope
  const { terms } = pending.payment
  const reply = await pending.expected.within(scope.waitMs)
  const times = reply?.times ? { times: stepTimes(performance.now() - pending.startedMs, reply.times) } : {}
  if (reply?.kind === 'ended') return { kind: 'finished', terms, result: reply.result, isReplay: false, ...times }
  if (reply?.kind === 'open') {
    return { kind: 'in_progress', terms, progress: reply.progress, isReplay: false, ...times }
  }
  const [stored, payment] = await Promise.all([
    deps.store.readIdempotency(partition, idempotencyRecordId),
    deps.store.load(partition, paymentKeyOf(terms.id))
  ])
  const current = payment ?? pending.payment
  const { progress } = current
  const result = (await freshRecord(deps, scope, stored, progress))?.result
  if (result) return { kind: 'finished', terms, result, isReplay: false }
  return { kind: 'in_progress', terms, progress: progressWith(current, pending.asked), isReplay: false }
}

async function replay(deps: SubmitDeps, scope: RecordedScope, earlier: IdempotencyValue): Promise<Submission> {
  const conflict = conflictOf(scope, earlier)
  if (conflict !== null) return conflict
  const payment = await deps.store.load(scope.partition, earlier.paymentKey)
  if (payment === null)
    throw new Error(`The payment ${paymentIdOfKey(earlier.paymentKey)} of an idempotency record is missing.`)
  const now = await freshRecord(deps, scope, earlier, payment.progress)
  return replayOf(scope, now ?? earlier, payment, null)
}

/** The answer by the key alone. An operation that no worker has begun is not told by its record: 503, which asks for a repeat. */
async function repeat(deps: SubmitDeps, scope: RecordedScope, paymentId: string | null): Promise<Submission | null> {
  const { partition, idempotencyKey } = scope
  const earlier = await deps.store.readIdempotency(partition, scope.idempotencyRecordId)
  if (earlier !== null) {
    const submission = await replay(deps, scope, earlier)
    const isUntold = earlier.kind !== 'create' && submission.kind === 'in_progress'
    if (isUntold && !isOpenFor(submission.progress.operation, idempotencyKey))
      throw new ServiceError('service_unavailable')
    return submission
  }
  if (paymentId === null) return null
  const payment = await deps.store.load(partition, paymentKeyOf(paymentId))
  if (payment?.terms.merchantId !== scope.merchantId) return null
  // A refund without its record: whether this is the same request can't be told any more.
  return hasRefundOf(payment.progress, idempotencyKey) ? { kind: 'conflict', paymentId } : null
}

/**
 * The record of a request, consistent with the payment that was read beside it. An open record may have ended before the
 * payment was read: then the operation of the payment is another one, and the record is read again.
 */
async function freshRecord(
  deps: SubmitDeps,
  { partition, idempotencyRecordId, idempotencyKey }: RecordedScope,
  stored: IdempotencyValue | null,
  { operation }: PaymentProgress
): Promise<IdempotencyValue | null> {
  if (stored?.result || isOpenFor(operation, idempotencyKey)) return stored
  return await deps.store.readIdempotency(partition, idempotencyRecordId)
}

function termsOf(
  deps: SubmitDeps,
  merchantId: string,
  partition: number,
  request: CreateRequest,
  card: PaymentTerms['card']
): PaymentTerms {
  const id = newPaymentId(partition, deps.clock.now())
  // The time in the id, by which lists find payments, may be ahead of the clock.
  const createdAtMs = createdAtMsOf(id)
  const { days: usualDays, byName } = deps.config.preauthTtlDays
  const days = byName[card.brand] ?? usualDays
  // The spread comes last: V8 adds properties after a spread one by one (20 us, measured).
  return { id, merchantId, card, preauthTtlMs: days * DAY_MS, createdAtMs, ...request.terms }
}

function acceptanceOf(deps: SubmitDeps, scope: RecordedScope, commandId: string): Acceptance {
  return { ...scope, replyTo: { channel: deps.replies.channel, commandId } }
}
