/** `payment erase-buyer`: the personal data of one buyer, as data protection law (LGPD) asks. */
import type { Command } from 'commander'
import { canEraseBuyer, isBuyerErased } from '../../machines/payment/erasure.js'
import { listDeadLetters } from '../../redis/commands/dead-letters.js'
import { eraseBuyer } from '../../redis/operator/review.js'
import type { OperatorConnection } from './connection.js'
import { PAYMENT, paymentOf } from './payment-of.js'
import type { Output, VerbMaker } from './verb.js'
import { untilDone } from './worker-wait.js'

/** A payment is locked while a worker asks the network about it. */
const ERASE_WAIT_MS = 60_000

export function addErasure(noun: Command, verb: VerbMaker): void {
  verb(
    noun.command('erase-buyer'),
    {
      does: 'Erase name, e-mail address and metadata of a payment. Amounts, times and references stay, for accounting.',
      subject: PAYMENT,
      change: 'for_ever'
    },
    (connection, _, id) => erase(connection, id)
  )
}

async function erase(connection: OperatorConnection, given: string): Promise<Output> {
  const payment = await paymentOf(connection, given)
  const { id, card } = payment.terms
  const isErased = isBuyerErased(payment.terms)
  if (!isErased) {
    if (!canEraseBuyer(payment)) {
      throw new Error(
        `An operation of payment ${id} is in progress. Nothing was erased: repeat this when it has ended.`
      )
    }
    await requireNoLetter(connection, id)
    await eraseBuyer(connection.redis, id)
    await untilDone(`erased the buyer of payment ${id}`, ERASE_WAIT_MS, async () =>
      isBuyerErased((await paymentOf(connection, id)).terms) ? true : null
    )
  }
  const hint = card.cardId === null ? '' : ` Its stored card ${card.cardId} stays until the merchant erases it.`
  return {
    json: { payment_id: id, buyer_erased: true, stored_card: card.cardId },
    text: `The buyer of payment ${id} ${isErased ? 'was erased before' : 'is erased'}.${hint}`
  }
}

/** A command that was put aside still has all that the merchant sent of the buyer. */
async function requireNoLetter({ redis, config }: OperatorConnection, id: string): Promise<void> {
  const letters = await listDeadLetters(redis, config.partitions)
  const letter = letters.find(({ command }) => command?.paymentId === id && command.kind === 'create')
  if (letter === undefined) return
  throw new Error(
    `The dead letter ${letter.letterId} has the buyer of payment ${id}. Nothing was erased: replay it first (dead-letter replay).`
  )
}
