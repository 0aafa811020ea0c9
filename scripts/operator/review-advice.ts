/** What an operator does about each reason for manual review (docs/OPERATIONS.md, Manual review). */
import type { Payment, ReviewReason } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'

interface Advice {
  readonly happened: string
  /** What to look at, mostly at the acquirer. */
  readonly look: string
}

const adviceByReason: Readonly<Record<string, Advice>> = {
  unresolved_for_long: {
    happened: 'the network has given no conclusive answer for 72 h',
    look: 'is the operation booked at the acquirer, exactly as it was asked?'
  },
  duplicate_sale: {
    happened: 'two sales stood under one order; the service voids the duplicate',
    look: 'is each sale of the order but sale_id voided? Have the acquirer void one that is not'
  },
  sale_after_failure: {
    happened: 'a sale turned up after the payment had failed; the service voids it',
    look: 'is the sale voided? Have the acquirer void one that is not'
  },
  figures_differ: {
    happened: "the acquirer's record says something else than the payment",
    look: 'state, currency, captured and voided amount of the sale; the history below has what the record showed'
  },
  notification_unconfirmed: {
    happened: 'the network reported a chargeback or a denied refund, and its record never showed it',
    look: 'does the acquirer know of it?'
  },
  poisoned: {
    happened: 'a command had no result after five deliveries and is a dead letter',
    look: '`dead-letter list`, and the log of `payments`: what ends the workers, or the command?'
  }
} satisfies Record<ReviewReason, Advice>

/** Null for a reason that another version wrote. */
export function whatHappened(reason: string): string | null {
  return adviceByReason[reason]?.happened ?? null
}

/** What happened to a listed payment, what to look at, and which command ends it; '' for one that is not listed. */
export function adviceText({ terms: { id }, progress }: Payment): string {
  const { reviewReason, references, reconciliation } = progress
  const advice = adviceByReason[reviewReason ?? '']
  if (reviewReason === null || advice === undefined) return ''
  const sale = references.saleId === null ? '' : `, sale_id ${references.saleId}`
  const conclude = `\`payment conclude ${id} --booked\` or \`--not-booked\`, by what the acquirer has`
  const settle = `\`payment settle-attention ${id}\`, when it is explained`
  const replay = '`dead-letter replay`, when the cause is gone; the payment leaves the list when its outcome is known'
  const isInDoubt = reconciliation !== null
  const ends = reviewReason === 'poisoned' ? [replay] : isInDoubt ? [] : [settle]
  return [
    `Listed for manual review: ${reviewReason}`,
    `  happened  ${advice.happened}`,
    `  look at   ${advice.look} (order_id ${orderIdOf(id)}${sale})`,
    `  ends by   ${[...ends, ...(isInDoubt ? [conclude] : [])].join('; in doubt: ')}`,
    '\n'
  ].join('\n')
}
