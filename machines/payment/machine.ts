/**
 * The life of a payment, as a statechart.
 *
 * States are the statuses that merchants see (docs/PAYMENTS.md#what-each-status-means); a status with substates keeps one
 * public name. The machine never calls the network: an action is either a change of facts (money-actions.ts,
 * doubt-actions.ts) or an effect (effects.ts), which decide.ts hands to the worker as data. An answer comes back as an event,
 * which classify.ts compares with the payment first. An event that a state does not take is refused.
 */
import type { AnyStateNode } from 'xstate'
import { type Payment, type PaymentPlace, placeOf } from '../model.js'
import { WrittenByOtherVersion } from '../written-by-other-version.js'
import { failed, pending, unknown } from './authorisation.js'
import { captured, chargedBack, partiallyRefunded, refunded, refunding } from './charge.js'
import { type PaymentTag, paymentSetup } from './chart-setup.js'
import { canceled, cancelling, capturing, expired, preAuthorized } from './hold.js'

export const paymentMachine = paymentSetup.createMachine({
  id: 'payment',
  description: 'The life of one card payment.',
  context: ({ input }) => input,
  initial: 'pending',
  on: {
    CONCLUSION_NOTED: {
      actions: 'noteConclusion',
      description:
        'What an operator has seen of an outcome in doubt counts from the horizon. Nothing is sent until then.'
    },
    NETWORK_NOTIFICATION: {
      actions: ['scheduleVerification', 'reconcileNow'],
      description: 'Verified when the operation has ended. What is in doubt is reconciled now.'
    },
    REVIEW_RESOLVED: {
      guard: 'isListed',
      actions: ['endReview', 'reconcileNow'],
      description: 'An operator has looked: off the list for manual review. What is in doubt is reconciled now.'
    }
  },
  states: {
    pending,
    unknown,
    pre_authorized: preAuthorized,
    capturing,
    captured,
    cancelling,
    canceled,
    refunding,
    partially_refunded: partiallyRefunded,
    refunded,
    charged_back: chargedBack,
    expired,
    failed
  }
})

/** Throws `WrittenByOtherVersion` for a payment whose place the chart does not know: nothing about it can be decided. */
export function requireKnownPlace({ terms, progress }: Payment): void {
  const { status, phase } = progress
  const node: AnyStateNode | undefined = paymentMachine.root.states[status]
  if (node !== undefined && (phase === null || node.states[phase] !== undefined)) return
  throw new WrittenByOtherVersion(`The payment ${terms.id} is ${placeOf(progress)}, which this version does not know.`)
}

/** Whether the chart gives the place this property: the status itself, or its phase. */
export function hasTag({ status, phase }: PaymentPlace, tag: PaymentTag): boolean {
  const node: AnyStateNode | undefined = paymentMachine.root.states[status]
  return node?.tags.includes(tag) === true || (phase !== null && node?.states[phase]?.tags.includes(tag) === true)
}

/** Whether a call may be in flight whose outcome the payment waits for. */
export function isInFlight(place: PaymentPlace): boolean {
  return hasTag(place, 'in_flight')
}
