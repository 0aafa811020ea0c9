/**
 * Money that was taken: `captured`, its refunds, and what the network says about it later.
 */
import { inDoubt, stillOpen, surplusFirst, surplusVoided } from './fragments.js'
import {
  asksAboutNotice,
  nothingNew,
  noticeStillOpen,
  remembersNotice,
  surplusTurnedUp,
  surplusWasVoided
} from './notices.js'
import { paymentSetup } from './setup.js'

const confirmedChargeback = {
  guard: 'isChargedBack',
  target: '#payment.charged_back',
  actions: 'verifyNoticeLater',
  description: 'The network confirms the chargeback. Look again later: money may have been given back as well.'
} as const

const refundStillToShow = {
  guard: 'isRefundStillToShow',
  actions: 'verifyNoticeLater',
  description: 'The record shows less than was refunded, and may be behind: verify later.'
} as const

/** A refund that was approved may be denied afterwards: the record counts, and the merchant gets an event. */
const refundsUndone = [
  refundStillToShow,
  {
    guard: 'isEveryRefundUndone',
    target: '#payment.captured',
    actions: ['noteRefundUndone', 'callForFigures', 'askNetwork'],
    description: 'The network undid what was refunded: take over its record, tell a person, and look again.'
  },
  {
    guard: 'isRefundUndone',
    target: '#payment.partially_refunded',
    actions: ['noteRefundUndone', 'callForFigures', 'askNetwork'],
    description: 'The network undid a part of what was refunded: take over its record, tell a person, and look again.'
  }
] as const

/** The same after a chargeback, which stays. */
const refundsUndoneInDispute = [
  refundStillToShow,
  {
    guard: 'isRefundUndone',
    actions: ['noteRefundUndone', 'callForFigures', 'askNetwork'],
    description: 'The network undid refunds of a disputed sale: take over its record, tell a person, and look again.'
  }
] as const

const capturedOtherwise = {
  guard: 'isCapturedOtherwise',
  actions: ['noteCapturedOtherwise', 'callForFigures', 'askNetwork'],
  description: 'Another amount was captured than we know of: take over the record, tell a person, and look again.'
} as const

/** The same of a sale that was refunded: whether that was all of it may be another matter now. */
const capturedOtherwiseAndRefunded = [
  { ...capturedOtherwise, guard: 'isCapturedAsFarAsRefunded', target: '#payment.refunded' },
  { ...capturedOtherwise, target: '#payment.partially_refunded' }
] as const

const contradictsCapture = [
  surplusTurnedUp,
  {
    guard: 'isCaptureStillToShow',
    actions: 'verifyNoticeLater',
    description: 'The record does not show a capture of a moment ago: it may be behind, verify later.'
  },
  { actions: ['endNotice', 'callForFigures'], description: 'Contradicts the capture: tell a person.' }
] as const

/** What a settled, captured payment does about a notice. `changes`: what the acquirer's record may change first. */
function verifiesNotice<Changes extends readonly object[]>(changes: Changes) {
  const judgedByRecord = [
    surplusTurnedUp,
    ...changes,
    {
      guard: 'isVoidedElsewhere',
      actions: ['noteVoidedElsewhere', 'callForFigures', 'askNetwork'],
      description: 'Money was refunded outside this service: remember it, tell a person, and look again.'
    },
    ...nothingNew
  ] as const
  return {
    ...asksAboutNotice,
    FOUND_CAPTURED: judgedByRecord,
    FOUND_VOIDED: judgedByRecord,
    FOUND_AUTHORISED: contradictsCapture,
    FOUND_DENIED: contradictsCapture,
    ...surplusWasVoided,
    ...noticeStillOpen
  } as const
}

const refunds = {
  CANCEL: {
    guard: 'isRefundable',
    target: '#payment.refunding',
    actions: ['beginOperation', 'refundSale'],
    description: 'Give back a part or the rest of the captured amount.'
  }
} as const

/** A refund that surely did not happen leaves the payment as it was. */
function withoutRefund(description: string) {
  return [
    { guard: 'isPartlyRefunded', target: '#payment.partially_refunded', actions: 'fail', description },
    { target: '#payment.captured', actions: 'fail', description }
  ] as const
}

const bookedWhole = {
  guard: 'isRefundBookedWhole',
  target: '#payment.refunded',
  actions: ['noteRefunded', 'succeed'],
  description: 'It is booked; nothing is left to refund.'
} as const

/** As `contradictsCapture`, while a refund is asked about: the question stays open. */
const contradictsWhileAsking = {
  actions: ['askLater', 'callForFigures'],
  description: 'Contradicts the capture: tell a person.'
} as const

export const captured = paymentSetup.createStateConfig({
  description: 'Paid.',
  on: { ...refunds, ...verifiesNotice([confirmedChargeback, capturedOtherwise]) }
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
        REJECTED: withoutRefund('The network refused the refund.'),
        DECLINED: withoutRefund('The issuer refused the refund.'),
        NOT_SENT: withoutRefund('The network could not be reached; nothing was sent.'),
        ...inDoubt
      }
    },
    asking: {
      description: 'Whether the refund is booked is not known; the voided amount at the network is compared.',
      on: {
        RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
        FOUND_CAPTURED: [
          surplusFirst,
          bookedWhole,
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
          {
            guard: 'isRefundMissing',
            actions: 'askLater',
            description: 'Refunds add up: do not send again what may still arrive.'
          },
          {
            actions: ['askLater', 'callForFigures'],
            description: 'The record shows neither that it is booked nor that it is missing: tell a person.'
          }
        ],
        FOUND_VOIDED: [
          surplusFirst,
          bookedWhole,
          {
            actions: ['askLater', 'callForFigures'],
            description: 'Undone at the network beyond what was asked: tell a person.'
          }
        ],
        FOUND_AUTHORISED: contradictsWhileAsking,
        FOUND_DENIED: contradictsWhileAsking,
        ABSENT: {
          actions: 'askLater',
          description: 'Contradicts the capture, or the sale is older than what the network tells of: ask again later.'
        },
        OPERATION_CONCLUDED: [
          {
            guard: 'isConcludedAsBookedWhole',
            target: '#payment.refunded',
            actions: ['noteRefunded', 'succeed', 'settleAttention'],
            description: 'A person has seen that it is booked; nothing is left to refund.'
          },
          {
            guard: 'isConcludedAsBooked',
            target: '#payment.partially_refunded',
            actions: ['noteRefunded', 'succeed', 'settleAttention'],
            description: 'A person has seen that it is booked.'
          },
          {
            guard: 'isConcludedAsMissingAfterOthers',
            target: '#payment.partially_refunded',
            actions: ['fail', 'settleAttention'],
            description: 'A person has seen that it is not booked.'
          },
          {
            guard: 'isConcludedAsMissing',
            target: '#payment.captured',
            actions: ['fail', 'settleAttention'],
            description: 'A person has seen that it is not booked.'
          }
        ],
        ...surplusVoided,
        ...stillOpen
      }
    }
  }
})

export const partiallyRefunded = paymentSetup.createStateConfig({
  description: 'Part of the captured amount is given back.',
  on: { ...refunds, ...verifiesNotice([confirmedChargeback, ...refundsUndone, ...capturedOtherwiseAndRefunded]) }
})

export const refunded = paymentSetup.createStateConfig({
  description: 'All of the captured amount is given back.',
  on: { ...verifiesNotice([confirmedChargeback, ...refundsUndone, ...capturedOtherwiseAndRefunded]) }
})

export const chargedBack = paymentSetup.createStateConfig({
  description: 'The buyer disputed the purchase with the issuer.',
  on: { ...verifiesNotice([...refundsUndoneInDispute, capturedOtherwise]) }
})
