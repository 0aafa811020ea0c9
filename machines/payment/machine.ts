/**
 * The life of a payment, as a statechart.
 *
 * States are the statuses of docs/PAYMENTS.md#what-each-status-means; a status with substates keeps one public name.
 * The machine makes no calls: an action is either a change of figures (progress.ts) or the name of one effect, which
 * decide.ts returns to the worker as data. A network answer comes back as an event. An event that a state does not take
 * is refused, not lost.
 */
import { failed, pending, unknown } from './authorisation.js'
import { expired } from './expiry.js'
import { canceled, cancelling, capturing, preAuthorized } from './hold.js'
import { captured, chargedBack, partiallyRefunded, refunded, refunding } from './settlement.js'
import { paymentSetup } from './setup.js'

export const paymentMachine = paymentSetup.createMachine({
  id: 'payment',
  description: 'The life of one card payment.',
  context: ({ input }) => input,
  initial: 'pending',
  on: {
    ATTENTION_SETTLED: {
      guard: 'isListed',
      actions: 'settleAttention',
      description: 'A person has looked: off the list.'
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
