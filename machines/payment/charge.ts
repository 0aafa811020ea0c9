/**
 * Money that was taken, its refunds, and what the network tells of it later:
 * `captured`, `refunding`, `partially_refunded`, `refunded`, `charged_back`.
 */
import { queryNetwork, refundSale, review } from './effects.js'
import type { PaymentState } from './setup.js'
import { contradicted, duplicateFirst, inDoubt, notificationForLater, sending, verifiable } from './verification.js'

const toRefunding = {
  guard: 'isRefundable',
  target: 'refunding',
  actions: ['beginOperation', refundSale],
  description: 'Give back a part or the rest of the captured amount.'
} as const

const toChargedBack = {
  target: 'charged_back',
  actions: 'verifyLater',
  description: 'The network confirms the chargeback. Verify again later: there may be a refund as well.'
} as const

/** The status stays: it tells of the merchant's own refunds only. */
const externalRefund = {
  actions: ['noteVoidedElsewhere', review('figures_differ'), queryNetwork],
  description: 'Others gave money back: remember it, list the payment for manual review, and look again.'
} as const

/** What a correction of the captured amount does, wherever it leads. */
const amountCorrection = {
  actions: ['noteCorrection', review('figures_differ'), queryNetwork],
  description: 'Another amount was captured: take it over, list the payment for manual review, and look again.'
} as const

const refundReversal = {
  actions: ['noteRefundReversed', review('figures_differ'), queryNetwork],
  description: 'The network reversed a refund: take that over, list the payment for manual review, and look again.'
} as const

const toCapturedOrPartiallyRefunded = [
  { guard: 'isEveryRefundReversed', target: 'captured', ...refundReversal },
  { target: 'partially_refunded', ...refundReversal }
] as const

const toRefundedOrPartiallyRefunded = [
  { guard: 'isRefundedWhole', target: 'refunded', ...amountCorrection },
  { target: 'partially_refunded', ...amountCorrection }
] as const

export const captured = verifiable({
  description: 'Paid.',
  tags: ['refundable', 'resting'],
  on: {
    CANCEL: toRefunding,
    CHARGED_BACK: toChargedBack,
    AMOUNT_CORRECTED: amountCorrection,
    REFUNDED_EXTERNALLY: externalRefund
  }
})

export const refunding: PaymentState = {
  description: 'A refund is in progress.',
  tags: ['in_progress'],
  initial: 'sending',
  on: { NETWORK_NOTIFICATION: notificationForLater },
  states: {
    sending: sending('reconciling', {
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
            description: 'A part is refunded.'
          }
        ],
        OPERATION_FAILED: [
          {
            guard: 'isPartlyRefunded',
            target: '#payment.partially_refunded',
            actions: 'fail',
            description: 'Refused, or not sent: what was refunded before stays so.'
          },
          { target: '#payment.captured', actions: 'fail', description: 'Refused, or not sent.' }
        ]
      }
    }),
    reconciling: inDoubt({
      description: 'The refund is in doubt; the voided amount at the network is compared.',
      on: {
        OPERATION_BOOKED: [
          {
            guard: 'isLastRefund',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'It is booked; nothing is left to refund.'
          },
          {
            target: '#payment.partially_refunded',
            actions: ['noteRefunded', 'succeed'],
            description: 'It is booked.'
          }
        ],
        OPERATION_MISSING: {
          target: 'sending',
          actions: ['resend', refundSale],
          description: 'Not booked for the whole horizon: send it again.'
        },
        CONTRADICTED: contradicted,
        DUPLICATE_SALE: duplicateFirst,
        RESOLVED_AS_BOOKED: [
          {
            guard: 'isLastRefund',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed', 'endReview'],
            description: 'An operator has seen that it is booked; nothing is left to refund.'
          },
          {
            target: '#payment.partially_refunded',
            actions: ['noteRefunded', 'succeed', 'endReview'],
            description: 'An operator has seen that it is booked.'
          }
        ],
        RESOLVED_AS_MISSING: [
          {
            guard: 'isPartlyRefunded',
            target: '#payment.partially_refunded',
            actions: ['fail', 'endReview'],
            description: 'An operator has seen that it is not booked.'
          },
          {
            target: '#payment.captured',
            actions: ['fail', 'endReview'],
            description: 'An operator has seen that it is not booked.'
          }
        ]
      }
    })
  }
}

export const partiallyRefunded = verifiable({
  description: 'Part of the captured amount is refunded.',
  tags: ['refundable', 'resting'],
  on: {
    CANCEL: toRefunding,
    CHARGED_BACK: toChargedBack,
    REFUND_REVERSED: toCapturedOrPartiallyRefunded,
    AMOUNT_CORRECTED: toRefundedOrPartiallyRefunded,
    REFUNDED_EXTERNALLY: externalRefund
  }
})

export const refunded = verifiable({
  description: 'All of the captured amount is refunded.',
  tags: ['refundable', 'resting'],
  on: {
    CHARGED_BACK: toChargedBack,
    REFUND_REVERSED: toCapturedOrPartiallyRefunded,
    AMOUNT_CORRECTED: toRefundedOrPartiallyRefunded,
    REFUNDED_EXTERNALLY: externalRefund
  }
})

export const chargedBack = verifiable({
  description: 'The buyer disputed the purchase with the issuer.',
  tags: ['resting'],
  on: {
    REFUND_REVERSED: refundReversal,
    AMOUNT_CORRECTED: amountCorrection,
    REFUNDED_EXTERNALLY: externalRefund
  }
})
