/**
 * From what the card network announced to a command for a payment. Each notice names a sale. Which payment owns it is
 * written down with the sale's id; of a sale that is not known here (a second one under an order, or one whose answer
 * was lost) the network tells the order id, and our order ids are payment ids.
 */
import { type CardNetwork, paymentIdOf } from '../../machines/network.js'
import type { NoticeStore, WaitingNotice } from '../../redis/notices/notices.js'
import type { Clock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

export interface NoticeDeps {
  readonly notices: NoticeStore
  readonly network: Pick<CardNetwork, 'findOrderId'>
  readonly clock: Clock
  readonly log: Logger
  /** Age at which a sale that the network does not know is given up (ms). */
  readonly giveUpAfterMs: number
  /** After this time a notice counts as abandoned by its taker; longer than any question to the network (ms). */
  readonly leaseMs: number
  /** Runs for each notice whose payment was never found. */
  readonly onGivenUp: () => void
}

const INTERVAL_MS = 500
const TAKE_MAX = 20
/** The pause grows with the age of the notice: a network that was away for an hour is asked again within another. */
const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 3_600_000

/** Works off what is due, again and again, until `signal` aborts. Resolves when the last round has ended. */
export async function repeatNoticeRounds(deps: NoticeDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await noticeRound(deps, signal).catch((error: unknown) => {
      warnRateLimited(deps.log, { err: error }, 'notices could not be worked off, they are tried again')
      return 0
    })
    if (taken < TAKE_MAX) await delay(INTERVAL_MS, signal)
  }
}

/** One round. Returns the number of notices that were taken. */
export async function noticeRound(deps: NoticeDeps, signal: AbortSignal): Promise<number> {
  const nowMs = deps.clock.now()
  const againAtMs = nowMs + deps.leaseMs
  const notices = await deps.notices.take(nowMs, againAtMs, TAKE_MAX)
  await Promise.all(notices.map(notice => resolveNotice({ ...notice, againAtMs }, deps, signal)))
  return notices.length
}

async function resolveNotice(
  notice: WaitingNotice & { againAtMs: number },
  deps: NoticeDeps,
  signal: AbortSignal
): Promise<void> {
  const { notices, log } = deps
  const { saleId, announced, sinceMs, againAtMs } = notice
  const owner = await notices.findPayment(saleId)
  if (owner !== null) {
    await notices.announce(owner, announced)
    return await notices.drop(notice, againAtMs)
  }
  const orderId = await deps.network.findOrderId(saleId, signal)
  if (orderId !== null) {
    const paymentId = paymentIdOf(orderId)
    if (paymentId === null) log.warn({ network_payment_id: saleId }, 'a notice is about a sale of another system')
    else await notices.announce(paymentId, announced)
    return await notices.drop(notice, againAtMs)
  }
  const ageMs = deps.clock.now() - sinceMs
  if (ageMs >= deps.giveUpAfterMs) {
    log.error({ network_payment_id: saleId, announced }, 'the network never said whose sale this is; ask it by hand')
    deps.onGivenUp()
    return await notices.drop(notice, againAtMs)
  }
  await notices.putOff(notice, deps.clock.now() + Math.min(Math.max(ageMs, PAUSE_MIN_MS), PAUSE_MAX_MS))
}
