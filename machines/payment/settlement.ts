/**
 * Money that was taken: `captured`, its refunds, and the buyer's dispute.
 */
import { inDoubt, remembersNotice, stillOpen } from './fragments.js'
import { paymentSetup } from './setup.js'

/** What a settled, captured payment does about a chargeback that the network announced. */
const disputes = {
  CHARGEBACK_NOTICE: {
    actions: ['noteDispute', 'askNetwork'],
    description: 'A notice is only a hint: ask the network.'
  },
  RECONCILE: { actions: 'askNetwork', description: 'Verify an announced chargeback again.' },
  FOUND_CAPTURED: [
    {
      guard: 'isChargedBack',
      target: '#payment.charged_back',
      actions: 'endDispute',
      description: 'The network confirms the chargeback.'
    },
    {
      guard: 'isVoidedOtherwise',
      actions: ['endDispute', 'callForFigures'],
      description: 'No chargeback, but the network gave back another amount: tell a person.'
    },
    { actions: 'endDispute', description: 'There is no chargeback at the network.' }
  ],
  FOUND_VOIDED: [
    {
      guard: 'isChargedBack',
      target: '#payment.charged_back',
      actions: 'endDispute',
      description: 'The network confirms the chargeback.'
    },
    {
      guard: 'isVoidedOtherwise',
      actions: ['endDispute', 'callForFigures'],
      description: 'No chargeback, but the network gave back another amount: tell a person.'
    },
    { actions: 'endDispute', description: 'There is no chargeback at the network.' }
  ],
  FOUND_AUTHORISED: {
    actions: ['endDispute', 'callForFigures'],
    description: 'Contradicts the capture: tell a person.'
  },
  FOUND_DENIED: {
    actions: ['endDispute', 'callForFigures'],
    description: 'Contradicts the capture: tell a person.'
  },
  FOUND_UNFINISHED: { actions: 'verifyDisputeLater', description: 'The network does not know yet: verify later.' },
  ABSENT: { actions: 'verifyDisputeLater', description: 'The network does not find the sale now: verify later.' },
  NO_ANSWER: { actions: 'verifyDisputeLater', description: 'The network does not answer: verify later.' },
  POISONED: {
    actions: ['verifyDisputeLater', 'callForPoison'],
    description: 'The question failed too often: verify later, and tell a person.'
  }
} as const

const refunds = {
  CANCEL: {
    guard: 'isRefundable',
    target: '#payment.refunding',
    actions: ['beginRefund', 'refundSale'],
    description: 'Give back a part or the rest of the captured amount.'
  }
} as const

export const captured = paymentSetup.createStateConfig({
  description: 'Paid.',
  on: { ...refunds, ...disputes }
})

export const refunding = paymentSetup.createStateConfig({
  description: 'A refund is in progress.',
  initial: 'sending',
  on: { ...remembersNotice },
  states: {
    sending: {
      description: 'The refund is on its way to the network.',
      on: {
        APPROVED: [
          {
            guard: 'isLastRefund',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'Nothing is left to refund.'
          },
          {
            target: '#payment.partially_refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'A part is given back.'
          }
        ],
        REJECTED: [
          {
            guard: 'isPartlyRefunded',
            target: '#payment.partially_refunded',
            actions: 'fail',
            description: 'The network refused the refund.'
          },
          { target: '#payment.captured', actions: 'fail', description: 'The network refused the refund.' }
        ],
        DECLINED: [
          {
            guard: 'isPartlyRefunded',
            target: '#payment.partially_refunded',
            actions: 'fail',
            description: 'The issuer refused the refund.'
          },
          { target: '#payment.captured', actions: 'fail', description: 'The issuer refused the refund.' }
        ],
        NOT_SENT: [
          {
            guard: 'isPartlyRefunded',
            target: '#payment.partially_refunded',
            actions: 'fail',
            description: 'The network could not be reached; nothing was sent.'
          },
          {
            target: '#payment.captured',
            actions: 'fail',
            description: 'The network could not be reached; nothing was sent.'
          }
        ],
        ...inDoubt
      }
    },
    asking: {
      description: 'Whether the refund is booked is not known; the voided amount at the network is compared.',
      on: {
        RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
        FOUND_CAPTURED: [
          {
            guard: 'isRefundBookedWhole',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'It is booked; nothing is left to refund.'
          },
          {
            guard: 'isRefundBooked',
            target: '#payment.partially_refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'It is booked.'
          },
          {
            guard: 'isRefundSurelyMissing',
            target: 'sending',
            actions: ['resend', 'refundSale'],
            description: 'Not booked for the whole horizon: send it again.'
          },
          { actions: 'askLater', description: 'Refunds add up: do not send again what may still arrive.' }
        ],
        FOUND_VOIDED: [
          {
            guard: 'isRefundBookedWhole',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'It is booked; nothing is left to refund.'
          },
          {
            actions: ['askLater', 'callForFigures'],
            description: 'Undone at the network beyond what was asked: tell a person.'
          }
        ],
        FOUND_AUTHORISED: {
          actions: ['askLater', 'callForFigures'],
          description: 'Contradicts the capture: tell a person.'
        },
        FOUND_DENIED: {
          actions: ['askLater', 'callForFigures'],
          description: 'Contradicts the capture: tell a person.'
        },
        ABSENT: { actions: 'askLater', description: 'Contradicts the capture: ask again later.' },
        ...stillOpen
      }
    }
  }
})

export const partiallyRefunded = paymentSetup.createStateConfig({
  description: 'Part of the captured amount is given back.',
  on: { ...refunds, ...disputes }
})

export const refunded = paymentSetup.createStateConfig({
  description: 'All of the captured amount is given back.',
  on: { ...disputes }
})

export const chargedBack = paymentSetup.createStateConfig({
  type: 'final',
  description: 'The buyer disputed the purchase with the issuer.'
})
