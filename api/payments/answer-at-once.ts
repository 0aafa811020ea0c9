/** What a capture or cancel gets without a worker: when it repeats an earlier one, and when its payment refuses it. */
import type { CommandResult } from '../../machines/commands.js'
import { isOpen, type Payment } from '../../machines/model.js'
import type { RequestEvent } from '../../machines/payment/events.js'
import type { KnownRefund } from '../../machines/payment/refunds.js'
import type { Answered } from '../../redis/connection/until-answered.js'
import type { IdempotencyValue } from '../../redis/payments/idempotency.js'
import type { OperationAccepted, OperationRequest } from '../../redis/payments/payments.js'
import type { RequestScope, Submission } from './payments-port.js'
import { replayOf } from './replay.js'

/** A capture or cancel, and what its payment says about it. */
interface Considered extends Pick<OperationRequest, 'payment' | 'refusal'> {
  readonly asked: RequestEvent
  readonly known: KnownRefund | null
}

/** The answer to a request for which no command was written. Null: its command is in the stream. */
export function answerAtOnce(
  scope: RequestScope,
  { payment, asked, known, refusal }: Considered,
  { answer, wasRepeated }: Answered<OperationAccepted>
): Submission | null {
  switch (answer.kind) {
    case 'known':
      if (known === null) throw new Error('unreachable: only a known refund is answered so')
      return repeatedRefund(payment, known)
    case 'earlier': {
      // A repeated acceptance finds its own open record when the first answer was lost. A refusal and a known refund leave
      // none.
      const isOwn = wasRepeated && refusal === null && known === null && isInProgress(scope, answer.earlier)
      return isOwn ? null : replayOf(scope, answer.earlier, payment, asked)
    }
    default: {
      const { terms } = payment
      return refusal && { kind: 'finished', terms, result: { kind: 'refused', code: refusal }, isReplay: false }
    }
  }
}

function isInProgress(scope: RequestScope, earlier: IdempotencyValue): boolean {
  return earlier.fingerprint === scope.fingerprint && earlier.result === null
}

/**
 * The answer to a repeated refund whose idempotency record is gone (after its retention, or with data that came from an older
 * backup) or whose command may be lost. The payment still has the refund, which must not be sent again: the buyer would get the money twice.
 */
function repeatedRefund({ terms, progress }: Payment, known: KnownRefund): Submission {
  if (known === 'other') return { kind: 'conflict', paymentId: terms.id }
  if (isOpen(known)) return { kind: 'in_progress', terms, progress, isReplay: true }
  const result: CommandResult =
    known.state === 'succeeded'
      ? { kind: 'succeeded', progress }
      : { kind: 'failed', code: known.error ?? 'provider_rejected' }
  return { kind: 'finished', terms, result, isReplay: true }
}
