/** Notes that a stored card was declined, so that `api` refuses it unsent where card networks forbid another try. */
import { isDecline } from '../../machines/declines.js'
import type { Payment } from '../../machines/model.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { warnRateLimited } from '../../runtime/log.js'
import type { WorkerDeps } from './worker-deps.js'

/**
 * Before the decline is committed, so that the merchant's next request meets it. A worker that dies between the two
 * notes it again, under the same payment. A failure costs one more try of the card, and never the payment.
 */
export async function noteDecline({ terms, progress }: Payment, deps: WorkerDeps): Promise<void> {
  const { merchantId, card, id } = terms
  if (progress.status !== 'failed' || !isDecline(progress.error) || card.cardId === null) return
  const decline = { paymentKey: paymentKeyOf(id), code: progress.declinedCode ?? '' }
  await deps.cardDeclines.note(merchantId, card.cardId, decline, deps.clock.now()).catch((error: unknown) => {
    warnRateLimited(deps.log, { err: error, payment_id: id }, 'a decline of a stored card could not be noted')
  })
}
