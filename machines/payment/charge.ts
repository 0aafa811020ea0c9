/**
 * Captured money, its refunds, and what the network reports about it later:
 * `captured`, `refunding`, `partially_refunded`, `refunded`, `charged_back`.
 */
import { listForReview, queryNetwork, refundSale } from './effects.js'
import { amountCorrection, operation, verifiable } from './state-blocks.js'

const toRefunding = {
  guard: 'isRefundable',
  target: 'refunding',
  actions: ['beginOperation', refundSale],
  description: 'Refund a part or the rest of the captured amount.'
} as const

const toChargedBack = {
  target: 'charged_back',
  actions: 'verifyLater',
  description: 'The network confirms the chargeback. Verify again later: there may be a refund as well.'
} as const

/** The status stays: it shows the merchant's own refunds only. */
const externalRefund = {
  actions: ['noteVoidedElsewhere', listForReview('figures_differ'), queryNetwork],
  description: 'Refunded outside this service: note it, list the payment for manual review, and query again.'
} as const

const refundReversal = {
  actions: ['noteRefundReversed', listForReview('figures_differ'), queryNetwork],
  description: 'The network reversed a refund: take that over, list the payment for manual review, and query again.'
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

/** The refund is booked; `confirmPart` when only the answer says so. */
function refundBooked(description: string, ...more: 'confirmPart'[]) {
  const actions = ['noteRefunded', 'succeed', ...more] as const
  return [
    {
      guard: 'isLastRefund',
      target: '#payment.refunded',
      actions,
      description: `${description} Nothing is left to refund.`
    },
    { target: '#payment.partially_refunded', actions, description }
  ] as const
}

/** The refund did not happen; what was refunded before stays so. */
function refundFailed(description: string) {
  const actions = ['fail', 'confirmLater'] as const
  return [
    { guard: 'isPartlyRefunded', target: '#payment.partially_refunded', actions, description },
    { target: '#payment.captured', actions, description }
  ] as const
}

/** Before the transitions of a refund that ended: the merchant must not refund again before the chargeback is known. */
function toChargedBackWith(...actions: ('noteRefunded' | 'succeed' | 'fail')[]) {
  return {
    guard: 'isChargedBack',
    target: '#payment.charged_back',
    actions: [...actions, 'verifyLater'],
    description: 'The refund ended so, and the record shows a chargeback as well: no further one.'
  } as const
}

/** When each finding comes: `ofRefund` in findings-by-state.ts; when a refund is sent again: tries.ts. */
export const refunding = operation('A refund is in progress.', {
  sending: {
    description: 'The refund is on its way to the network.',
    on: {
      APPROVED: refundBooked('Refunded. A refund of a part is compared with the record later.', 'confirmPart'),
      OPERATION_FAILED: refundFailed('Refused, or not sent.')
    }
  },
  reconciling: {
    description: 'The refund is in doubt; the voided amount at the network is compared.',
    on: {
      OPERATION_BOOKED: [
        toChargedBackWith('noteRefunded', 'succeed'),
        ...refundBooked('It is booked, by the record or an operator.')
      ],
      OPERATION_MISSING: {
        target: 'sending',
        actions: ['resend', refundSale],
        description: 'Not booked for the whole horizon: send it again.'
      },
      OPERATION_NOT_BOOKED: [
        toChargedBackWith('fail'),
        ...refundFailed('Not booked, by the record or an operator, and no try can be booked any more.')
      ]
    }
  }
})

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
    AMOUNT_CORRECTED: toRefundedOrPartiallyRefunded
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
