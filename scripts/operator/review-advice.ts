/** What an operator does about each reason for manual review (docs/OPERATIONS.md, Manual review). */
import { type Payment, placeOf, type ReviewReason } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { authorizedCentsOf, knownVoidedCents } from '../../machines/payment/amounts.js'
import { isoTime } from './output.js'

interface Advice {
  readonly happened: string
  /** What to look at, mostly at the acquirer. */
  readonly look: string
}

const adviceByReason: Readonly<Record<string, Advice>> = {
  unresolved_for_long: {
    happened: 'the network has given no conclusive answer for 72 h',
    look: 'what has the acquirer booked of the sale?'
  },
  duplicate_sale: {
    happened:
      'two sales stood under one order; the service voids the duplicate, six times at most, and not after a chargeback of it',
    look: 'is each sale of the order but sale_id voided, or charged back? Have the acquirer void one that is not'
  },
  sale_after_failure: {
    happened:
      'a sale turned up after the payment had failed; the service voids it, six times at most, and not after a chargeback of it',
    look: 'is the sale voided, or charged back? Have the acquirer void one that is not'
  },
  figures_differ: {
    happened: "the acquirer's record and the payment differ: compare the next lines",
    look: 'which of them is right? Amount, currency and state of the sale; captured and voided amount'
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
export function adviceText(payment: Payment): string {
  const { terms, progress, history } = payment
  const { reviewReason, references, reconciliation } = progress
  const advice = adviceByReason[reviewReason ?? '']
  if (reviewReason === null || advice === undefined) return ''
  const sale = references.saleId === null ? '' : `, sale_id ${references.saleId}`
  const record = history.findLast(({ detail }) => detail?.includes(', captured '))
  const replay = '`dead-letter replay`, when the cause is gone; the payment leaves the list when its outcome is known'
  const settle = `\`payment settle-attention ${terms.id}\`, when it is explained`
  const ends = reviewReason === 'poisoned' ? replay : settle
  const lines = [
    ['happened', advice.happened],
    ['payment', figuresOf(payment)],
    ...(record === undefined ? [] : [['record', `${isoTime(record.atMs)} ${record.event}: ${record.detail}`]]),
    ['look at', `${advice.look} (order_id ${orderIdOf(terms.id)}${sale})`],
    ...(reconciliation === null || reviewReason === 'poisoned' ? [['ends by', ends]] : []),
    ...(reconciliation === null ? [] : conclusionLines(payment))
  ]
  return `Listed for manual review: ${reviewReason}\n${lines.map(([name = '', text]) => `  ${name.padEnd(10)} ${text}\n`).join('')}\n`
}

function figuresOf({ terms, progress }: Payment): string {
  const { status, authorizedAtMs, capturedCents, refundedCents } = progress
  const authorised = authorizedAtMs === null ? '' : `authorised ${authorizedCentsOf(terms, progress)}, `
  return `${status}; asked ${terms.amountCents}, ${authorised}captured ${capturedCents}, refunded ${refundedCents} cents of ${terms.currency}`
}

/** What is in doubt, and what the operator must have seen at the acquirer before it is concluded. */
function conclusionLines(payment: Payment): string[][] {
  const { id } = payment.terms
  const { reconciliation } = payment.progress
  const { what, booked, notBooked } = outcomesOf(payment)
  const since = isoTime(reconciliation?.openedMs ?? null)
  return [
    ['in doubt', `${what}, since ${since}; next query ${isoTime(reconciliation?.nextAtMs ?? null)}`],
    ...(booked === null ? [] : [['booked', `${booked}: \`payment conclude ${id} --booked\``]]),
    ['not booked', `${notBooked}: \`payment conclude ${id} --not-booked\``]
  ]
}

interface Outcomes {
  readonly what: string
  /** Null: it can't be concluded as booked. */
  readonly booked: string | null
  readonly notBooked: string
}

function outcomesOf({ terms, progress }: Payment): Outcomes {
  const { operation, references, status } = progress
  const { amountCents } = operation
  const knownCents = knownVoidedCents(progress)
  if (placeOf(progress) === 'expired.releasing') {
    const notBooked = 'it is not: the issuer releases it in time'
    return { what: 'the release of the hold', booked: 'the sale is voided', notBooked }
  }
  switch (status) {
    case 'capturing':
      return {
        what: `the capture of ${amountCents}`,
        booked: `the sale is captured, ${amountCents} cents exactly`,
        notBooked: 'nothing is captured, or another amount'
      }
    case 'cancelling':
      return { what: 'the cancellation', booked: 'the sale is voided', notBooked: 'the amount is still held' }
    case 'refunding':
      return {
        what: `the refund of ${amountCents}`,
        booked: `the sale shows ${knownCents + amountCents} cents voided in all`,
        notBooked: `it shows ${knownCents} cents voided`
      }
  }
  if (status === 'unknown' && references.saleId !== null) {
    const done = terms.captureMode === 'manual' ? 'held' : 'captured'
    return {
      what: 'the authorisation',
      booked: `the sale is ${done}, as it was asked`,
      notBooked: 'there is no such sale, or it is denied or voided'
    }
  }
  const what = status === 'unknown' ? 'the authorisation' : 'whether a sale turns up late'
  return { what, booked: null, notBooked: 'there is no sale of the order, or each is voided' }
}
