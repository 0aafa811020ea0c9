/** Performs an effect: one call or query to the card network, whose outcome becomes an event. */
import type { Lease } from '../../machines/lease.js'
import type { Environment, Payment } from '../../machines/model.js'
import { type CallOutcome, orderIdOf, type QueryOutcome } from '../../machines/network.js'
import type { Effect, PaymentEvent } from '../../machines/payment/events.js'
import { callEvent, queryEvent } from '../../machines/payment/make-event.js'
import { VOID_GAP_MS } from '../../machines/payment/tries.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import { VaultError } from '../../vault/vault-error.js'
import type { CommandRun } from './command-run.js'
import type { WorkerDeps } from './worker-deps.js'

/** First pause before a call that did not reach the network is tried again; it doubles (ms). */
const RETRY_FIRST_MS = 100

/** How long a sale whose key this worker lacks is left to workers that may have it (ms). */
const KEY_ELSEWHERE_MS = 60_000

/** The card is sealed with a key that this worker lacks. Nothing was sent: another worker may send it. */
export class KeyElsewhere extends Error {}

/** Gap between two refunds of one sale (ms). The simulator takes no second refund for a copy. */
const REFUND_GAP_MS: Readonly<Record<Environment, number>> = { live: VOID_GAP_MS, test: 0 }

/** Never rejects for what the network does. */
export async function perform(effect: Effect, payment: Payment, run: CommandRun): Promise<PaymentEvent> {
  const { terms } = payment
  const { deps, recorder, lease } = run
  if (effect.kind === 'query') {
    const outcome = await recorder.call('query', () => deps.network.query(orderIdOf(terms.id), lease))
    warnOfTrouble('query', outcome, payment, deps)
    return queryEvent(outcome, payment.progress.references.saleId, deps.clock.now())
  }
  if (effect.kind === 'authorise') return await authorise(payment, run)
  if (effect.kind === 'refund') await pauseAfterRefund(payment, run)
  const outcome = await untilSent(run, effect.kind === 'capture' ? 'capture' : 'void', () => {
    switch (effect.kind) {
      case 'capture':
        return deps.network.capture(effect.saleId, effect.amountCents, lease)
      case 'void':
        return deps.network.void(effect.saleId, null, lease)
      case 'refund':
        return deps.network.void(effect.saleId, effect.amountCents, lease)
    }
  })
  warnOfTrouble(effect.kind, outcome, payment, deps)
  return callEvent(outcome, deps.clock.now())
}

/**
 * Warns about calls without a clear answer, and about refused authorisations: our credentials may be wrong. A refused
 * capture or refund is ordinary.
 */
function warnOfTrouble(
  operation: Effect['kind'],
  outcome: CallOutcome | QueryOutcome,
  { terms }: Payment,
  { log }: WorkerDeps
): void {
  const fields = { payment_id: terms.id, operation, outcome: outcome.kind }
  if ('reason' in outcome) {
    warnRateLimited(log, { ...fields, reason: outcome.reason }, 'the card network gave no clear answer')
  } else if (outcome.kind === 'rejected' && operation === 'authorise') {
    warnRateLimited(log, { ...fields, code: outcome.code }, 'the card network refused a sale as such')
  }
}

async function authorise(payment: Payment, run: CommandRun): Promise<PaymentEvent> {
  const { terms } = payment
  const { entry, deps, lease } = run
  const { command } = entry
  if (command.kind !== 'create') throw new Error(`A ${command.kind} command can't authorise the payment ${terms.id}.`)
  const idempotencyRecordId = entry.idempotencyRecordId ?? ''
  const onFailure = (error: unknown): void =>
    void warnRateLimited(deps.log, { err: error, payment_id: terms.id }, 'card data was not removed, it will expire')
  const releaseToken = (): Promise<void> =>
    deps.cardData.release(terms, command.source, idempotencyRecordId).catch(onFailure)
  // Hours later the buyer has left or paid otherwise, and would dispute the charge.
  if (deps.clock.now() > command.authoriseByMs) {
    await releaseToken()
    return { type: 'OVERDUE', nowMs: deps.clock.now() }
  }
  const card = await deps.cardData.open(terms, command.source, idempotencyRecordId).catch((error: unknown) => {
    if (!(error instanceof VaultError)) throw error
    if (error.code === 'unknown_key' && deps.clock.now() < terms.createdAtMs + KEY_ELSEWHERE_MS) {
      throw new KeyElsewhere(error.message)
    }
    deps.log.error({ err: error, payment_id: terms.id }, 'card data could not be opened, the payment failed unsent')
    return 'card_unreadable' as const
  })
  if (typeof card === 'string') {
    if (card !== 'invalid_token') await releaseToken()
    return { type: 'CARD_MISSING', failure: card, nowMs: deps.clock.now() }
  }
  run.onBegin()
  const outcome = await untilSent(run, 'authorise', () =>
    deps.network.authorise(
      {
        orderId: orderIdOf(terms.id),
        amountCents: terms.amountCents,
        installments: terms.installments,
        capture: terms.captureMode === 'auto',
        statementDescriptor: terms.statementDescriptor,
        brand: terms.card.brand,
        card,
        isStoredCard: terms.card.cardId !== null,
        buyer: command.buyer
      },
      lease
    )
  )
  warnOfTrouble('authorise', outcome, payment, deps)
  // The merchant may use the token as soon as the result says that nothing was sent. If the worker dies in between, the
  // payment is reconciled and never sent, so no other worker needs the token.
  if (outcome.kind === 'not_sent') await releaseToken()
  // Not awaited: tokens and CVVs expire, and the result must not wait for their removal.
  else deps.cardData.forget(terms, command.source).catch(onFailure)
  return callEvent(outcome, deps.clock.now())
}

async function pauseAfterRefund({ progress }: Payment, { deps, lease }: CommandRun): Promise<void> {
  // One that was refused counts as well: the acquirer got it.
  const lastMs = Math.max(0, ...progress.refunds.map(({ concludedAtMs }) => concludedAtMs ?? 0))
  const gapMs = REFUND_GAP_MS[deps.policy.environment]
  const leftMs = lastMs + gapMs - deps.clock.now()
  if (leftMs > 0) await pause(Math.min(leftMs, gapMs), lease)
}

/** Retries a call that was not sent: for `networkRetryMs`, with growing pauses. An open circuit ends the retries. */
async function untilSent(
  { deps, recorder, lease }: CommandRun,
  operation: string,
  call: () => Promise<CallOutcome>
): Promise<CallOutcome> {
  const deadlineMs = performance.now() + deps.networkRetryMs
  for (let pauseMs = RETRY_FIRST_MS; ; pauseMs *= 2) {
    const outcome = await recorder.call(operation, call)
    if (outcome.kind !== 'not_sent' || outcome.isCircuitOpen || lease.isLost()) return outcome
    if (performance.now() + pauseMs > deadlineMs) return outcome
    await pause(pauseMs, lease)
  }
}

/** Ends at once when the lease is lost. */
async function pause(ms: number, lease: Lease): Promise<void> {
  const lost = new AbortController()
  const stopListening = lease.onLost(() => lost.abort())
  if (!lease.isLost()) await delay(ms, lost.signal)
  stopListening()
}
