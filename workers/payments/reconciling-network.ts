/**
 * The card network for reconciliation: an absence needs a positive control, and answers set the pace.
 *
 * An absent sale ends its payment as `failed`. But a query host that is misrouted, stale, or asked with credentials of
 * another account knows none of our sales. So an absence counts only when the same host, asked at the same time, finds a
 * sale that is known to be booked. Otherwise it is no answer, and the payment stays in doubt.
 */
import type { Lease } from '../../machines/lease.js'
import { type CardNetwork, paymentIdOf, type QueryOutcome } from '../../machines/network.js'
import { mayBeInEarlierAccount } from '../../machines/payment/findings.js'
import { createdAtMs } from '../../redis/keys.js'
import { KNOWN_SALE_FRESH_MS, type KnownSaleStore } from '../../redis/reconciliation/known-sale.js'
import type { ReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import type { Clock } from '../../runtime/clock.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { endlessLease } from '../network/leases.js'
import { createVoidedReader } from './voided-amounts.js'

/** Why an absence does not count. `denied`: the network does not find the known sale either. */
export type Unconfirmed = 'denied' | 'no_known_sale' | 'older_than_account'

export interface ReconcilingOptions {
  readonly knownSales: KnownSaleStore
  readonly pace: Pick<ReconcilePace, 'noteAnswer' | 'returnUnused'>
  /** Our account at the network. */
  readonly account: string
  readonly onUnconfirmed: (reason: Unconfirmed) => void
  readonly clock: Clock
  readonly log: Logger
}

type Absence = Exclude<QueryOutcome, { kind: 'found' }>

/** The same network: `authorise` notes known sales, `query` asks for one, and the answers to it and to `void` set the pace. */
export function createReconcilingNetwork(network: CardNetwork, options: ReconcilingOptions): CardNetwork {
  const { knownSales, pace, account, onUnconfirmed, clock, log } = options
  let rememberedAtMs = Number.NEGATIVE_INFINITY
  let lastControl: Promise<unknown> = Promise.resolve()
  let nextControl: Promise<QueryOutcome> | null = null

  const noteBooked = (orderId: string): void => {
    if (performance.now() - rememberedAtMs < KNOWN_SALE_FRESH_MS) return
    rememberedAtMs = performance.now()
    knownSales.remember({ account, orderId }, clock.now()).catch((error: unknown) => {
      rememberedAtMs = Number.NEGATIVE_INFINITY
      warnRateLimited(log, { err: error }, 'a sale that is known to exist could not be noted')
    })
  }
  /** One control at a time. It serves the absences that were answered before it began: an older one proves nothing. */
  const askForKnown = (orderId: string): Promise<QueryOutcome> => {
    nextControl ??= lastControl.then(() => {
      nextControl = null
      return network.query(orderId, endlessLease)
    })
    lastControl = nextControl.catch(() => undefined)
    return nextControl
  }
  const unconfirmed = (reason: Unconfirmed, text: string): Absence => {
    onUnconfirmed(reason)
    warnRateLimited(log, { reason }, 'the card network knows no such sale, which is not believed')
    return { kind: 'no_answer', reason: text }
  }
  const judgeAbsence = async (orderId: string, lease: Lease): Promise<QueryOutcome> => {
    const known = await knownSales.read()
    if (known?.account !== account) return unconfirmed('no_known_sale', 'No sale is known that proves an absence.')
    const paymentId = paymentIdOf(orderId)
    if (paymentId === null || mayBeInEarlierAccount(createdAtMs(paymentId), known.accountSinceMs)) {
      return unconfirmed('older_than_account', 'The payment is older than the account that is asked.')
    }
    const outcome = await askForKnown(known.orderId)
    // Asked again: the host may have been repaired after it denied this sale, and before it found the known one.
    if (outcome.kind === 'found') return await network.query(orderId, lease)
    return outcome.kind === 'absent'
      ? unconfirmed('denied', `The card network does not find the known sale ${known.orderId} either.`)
      : outcome
  }

  const readVoided = createVoidedReader(options)
  return {
    capture: (...args) => network.capture(...args),
    async void(...args) {
      const outcome = await network.void(...args)
      if (outcome.kind !== 'not_sent' && outcome.kind !== 'ambiguous') await pace.noteAnswer().catch(() => undefined)
      return outcome
    },
    findOrderId: (...args) => network.findOrderId(...args),
    async authorise(request, lease) {
      const outcome = await network.authorise(request, lease)
      if (outcome.kind === 'approved') noteBooked(request.orderId)
      return outcome
    },
    async query(orderId, lease) {
      const answer = await network.query(orderId, lease)
      if (answer.kind === 'no_answer') return answer
      const judged = answer.kind === 'absent' ? await judgeAbsence(orderId, lease) : answer
      const outcome = judged.kind === 'found' ? await readVoided(orderId, judged) : judged
      await noteOn(pace, outcome)
      return outcome
    }
  }
}

/** An unconfirmed absence must neither slow the queries, as no answer would, nor speed them up. */
async function noteOn(pace: ReconcilingOptions['pace'], outcome: QueryOutcome): Promise<void> {
  const noted = outcome.kind === 'no_answer' ? pace.returnUnused(1) : pace.noteAnswer()
  // A pace that misses an answer is only slower.
  await noted.catch(() => undefined)
}
