/**
 * Submit and wait: a payment request becomes a durable command, and its result an answer if it comes in time.
 *
 * What if this process dies here? Before `accept`: nothing was accepted, the same request with the same key starts
 * anew. After it: the command is durable and a worker does it; the same request finds its record.
 */
import { randomUUID } from 'node:crypto'
import type { Command } from '../machines/commands.js'
import {
  newPayment,
  type OperationKind,
  type Payment,
  type PaymentProgress,
  type PaymentTerms
} from '../machines/model.js'
import { isRedisUnavailable } from '../redis/errors.js'
import type { IdempotencyValue } from '../redis/idempotency.js'
import { compactId, expandId, idempotencyRecord, newPaymentId, partitionOf } from '../redis/keys.js'
import type { Acceptance, PaymentStore } from '../redis/payments.js'
import type { ExpectedReply, ReplyListener } from '../redis/replies.js'
import type { Clock } from '../runtime/clock.js'
import type { Config } from '../runtime/config.js'
import { delay } from '../runtime/delay.js'
import { ServiceError } from '../runtime/errors.js'
import type { CreateRequest, Payments, RequestScope } from './payments-port.js'
import { findCard, giveCardBack, keepCvv, type RecordedScope, type RequestCardDeps } from './request-card.js'
import { stepTimes } from './server-timing.js'
import type { Submission } from './submission.js'

export interface SubmitDeps extends RequestCardDeps {
  readonly config: Config
  readonly clock: Clock
  readonly store: PaymentStore
  readonly replies: ReplyListener
}

const DAY_MS = 24 * 3_600_000
/** How long an acceptance is tried again when Redis is away: a restart of a small Redis takes less. */
const ACCEPT_RETRY_MS = 3_000
const ACCEPT_RETRY_GAP_MS = 100

/** The payments behind the routes: accepted here, done by the workers. */
export function createPayments(deps: SubmitDeps): Payments {
  return {
    create: (scope, request) => create(deps, recorded(deps, scope), request),
    capture: (scope, paymentId, amountCents) =>
      operate(deps, recorded(deps, scope), paymentId, { kind: 'capture', amountCents }),
    cancel: (scope, paymentId, amountCents) =>
      operate(deps, recorded(deps, scope), paymentId, { kind: 'cancel', amountCents }),

    async read(merchantId, paymentId) {
      const payment = await deps.store.load(partitionOf(merchantId, deps.config.partitions), compactId(paymentId))
      return payment?.terms.merchantId === merchantId ? payment : null
    },

    list: (merchantId, filter) =>
      deps.store.list({ ...filter, merchantId, partition: partitionOf(merchantId, deps.config.partitions) })
  }
}

function recorded({ config }: SubmitDeps, scope: RequestScope): RecordedScope {
  const partition = partitionOf(scope.merchantId, config.partitions)
  return { partition, record: idempotencyRecord(scope.merchantId, scope.idempotencyKey), ...scope }
}

async function create(deps: SubmitDeps, scope: RecordedScope, request: CreateRequest): Promise<Submission> {
  const startedMs = performance.now()
  const { partition, record } = scope
  const card = await findCard(deps, scope, request.source)
  if (card === null) {
    // A repeated request finds its payment even though its token is used up.
    const earlier = await deps.store.readIdempotency(partition, record)
    if (earlier !== null) return await replay(deps, scope, earlier)
    throw new ServiceError(request.source.type === 'token' ? 'invalid_token' : 'unknown_card')
  }

  const payment = newPayment(termsOf(deps, scope.merchantId, partition, request, card), record)
  await keepCvv(deps, payment.terms, request)
  const command: Command = { kind: 'create', buyer: request.buyer, source: request.source }
  const expected = deps.replies.expect(payment.terms.id)
  try {
    const acceptance = acceptanceOf(deps, scope, payment.terms.id)
    const { answer: found } = await acceptSurely(() => deps.store.acceptPayment(payment, command, acceptance))
    // Our own record: an acceptance whose answer was lost, and which was repeated.
    if (found !== null && found.compact !== compactId(payment.terms.id)) {
      await giveCardBack(deps, scope, payment.terms.id, request, found)
      return await replay(deps, scope, found)
    }
    return await resultOf(deps, scope, { kind: 'create', payment, expected, startedMs })
  } finally {
    expected.dispose()
  }
}

async function operate(
  deps: SubmitDeps,
  scope: RecordedScope,
  paymentId: string,
  command: Command & { kind: 'capture' | 'cancel' }
): Promise<Submission> {
  const startedMs = performance.now()
  const { merchantId } = scope
  const commandId = randomUUID()
  const expected = deps.replies.expect(commandId)
  try {
    const acceptance = acceptanceOf(deps, scope, commandId)
    const retentionMs = deps.config.idempotencyRetentionDays * DAY_MS
    const { answer, wasRepeated } = await acceptSurely(() =>
      deps.store.acceptOperation({ merchantId, paymentId, command }, acceptance, retentionMs)
    )
    if (answer.kind === 'not_found') return answer
    // After a repeat, the open record is probably our own, whose answer was lost: its result is worth waiting for.
    const isOurs = answer.kind === 'accepted' || (wasRepeated && isOpenFor(scope, answer.earlier))
    if (!isOurs && answer.kind === 'earlier') return replayOf(scope, answer.earlier, answer.payment)
    return await resultOf(deps, scope, { kind: command.kind, payment: answer.payment, expected, startedMs })
  } finally {
    expected.dispose()
  }
}

/** Waits for the reply; when it does not come in time, the stored result is the authority. */
async function resultOf(
  deps: SubmitDeps,
  scope: RecordedScope,
  pending: { kind: IdempotencyValue['kind']; payment: Payment; expected: ExpectedReply; startedMs: number }
): Promise<Submission> {
  const { partition, record } = scope
  const { terms } = pending.payment
  const reply = await pending.expected.within(scope.waitMs)
  const times = reply?.times ? { times: stepTimes(performance.now() - pending.startedMs, reply.times) } : {}
  if (reply?.kind === 'ended') return { kind: 'finished', terms, result: reply.result, isReplay: false, ...times }
  if (reply?.kind === 'open') {
    return { kind: 'in_progress', terms, progress: reply.progress, waiting: null, isReplay: false, ...times }
  }
  const [stored, payment] = await Promise.all([
    deps.store.readIdempotency(partition, record),
    deps.store.load(partition, compactId(terms.id))
  ])
  const { progress } = payment ?? pending.payment
  const result = (await freshRecord(deps, scope, stored, progress))?.result
  if (result) return { kind: 'finished', terms, result, isReplay: false }
  return { kind: 'in_progress', terms, progress, waiting: waitingOf(pending.kind, record, progress), isReplay: false }
}

async function replay(deps: SubmitDeps, scope: RecordedScope, earlier: IdempotencyValue): Promise<Submission> {
  if (earlier.fingerprint !== scope.fingerprint) return { kind: 'conflict' }
  const payment = await deps.store.load(scope.partition, earlier.compact)
  if (payment === null) throw new Error(`The payment ${expandId(earlier.compact)} of an idempotency record is missing.`)
  const now = await freshRecord(deps, scope, earlier, payment.progress)
  return replayOf(scope, now ?? earlier, payment)
}

/**
 * The record of a request, fit for the payment that was read beside it. One that was open may have ended before the
 * payment was read: the operation of the payment is not its own any more then, and it is read again.
 */
async function freshRecord(
  deps: SubmitDeps,
  { partition, record }: RecordedScope,
  stored: IdempotencyValue | null,
  { operation }: PaymentProgress
): Promise<IdempotencyValue | null> {
  if (stored?.result || operation.record === record) return stored
  return await deps.store.readIdempotency(partition, record)
}

function isOpenFor(scope: RequestScope, earlier: IdempotencyValue): boolean {
  return earlier.fingerprint === scope.fingerprint && earlier.result === null
}

/** Interface 5.1: the original result, a conflict, or "still in progress". */
function replayOf(scope: RecordedScope, earlier: IdempotencyValue, payment: Payment): Submission {
  if (earlier.fingerprint !== scope.fingerprint) return { kind: 'conflict' }
  const { terms, progress } = payment
  if (earlier.result !== null) return { kind: 'finished', terms, result: earlier.result, isReplay: true }
  if (earlier.kind === 'create' && progress.status === 'pending') {
    return { kind: 'create_in_progress', paymentId: terms.id }
  }
  return {
    kind: 'in_progress',
    terms,
    progress,
    waiting: waitingOf(earlier.kind, scope.record, progress),
    isReplay: true
  }
}

/** What an accepted command will begin, as long as it has not: the operation of the payment is then another one's. */
function waitingOf(
  kind: IdempotencyValue['kind'],
  record: string,
  { operation, status }: PaymentProgress
): OperationKind | null {
  if (kind === 'create' || operation.record === record) return null
  if (kind === 'capture') return 'capture'
  return status === 'pre_authorized' ? 'cancel' : 'refund'
}

function termsOf(
  deps: SubmitDeps,
  merchantId: string,
  partition: number,
  request: CreateRequest,
  card: PaymentTerms['card']
): PaymentTerms {
  const createdAtMs = deps.clock.now()
  const id = newPaymentId(partition, createdAtMs)
  const { preauthTtlDays, preauthTtlDaysByBrand } = deps.config
  const days = preauthTtlDaysByBrand[card.brand] ?? preauthTtlDays
  // The spread comes last: behind a spread, V8 adds what follows property by property (20 us, measured).
  return { id, merchantId, card, preauthTtlMs: days * DAY_MS, createdAtMs, ...request.terms }
}

function acceptanceOf(deps: SubmitDeps, scope: RecordedScope, commandId: string): Acceptance {
  const { partition, record, fingerprint, correlationId } = scope
  return { partition, record, fingerprint, correlationId, replyTo: { channel: deps.replies.channel, commandId } }
}

/** Repeats an acceptance whose fate is unknown: the script recognises its own record, so nothing is accepted twice. */
async function acceptSurely<T>(accept: () => Promise<T>): Promise<{ answer: T; wasRepeated: boolean }> {
  const deadlineMs = performance.now() + ACCEPT_RETRY_MS
  for (let wasRepeated = false; ; wasRepeated = true) {
    try {
      return { answer: await accept(), wasRepeated }
    } catch (error) {
      if (!isRedisUnavailable(error) || performance.now() >= deadlineMs) throw error
      await delay(ACCEPT_RETRY_GAP_MS)
    }
  }
}
