/**
 * From the accepted request to the answer of the issuer: `pending`, `unknown`, `failed`.
 */
import { notVoided, stillOpen, surplusVoided } from './fragments.js'
import { remembersNotice } from './notices.js'
import { paymentSetup } from './setup.js'

/** The issuer has said yes, and the network has not captured. */
const heldOrCaptured = [
  {
    guard: 'isManual',
    target: 'pre_authorized',
    actions: ['noteAuthorised', 'succeed'],
    description: 'The amount is held on the card.'
  },
  {
    target: 'capturing',
    actions: ['noteAuthorised', 'continueWithCapture', 'captureSale'],
    description: 'Only authorised: send the capture that was asked for.'
  }
] as const

const surplusOfUnknown = {
  guard: 'hasSurplus',
  actions: ['noteReferences', 'callForSurplus', 'voidSurplus'],
  description: 'More than one sale: void the surplus first.'
} as const

const lateSale = {
  target: '.watched',
  actions: ['noteReferences', 'askLater', 'callForLateSale', 'voidSale'],
  description: 'A sale turned up late: void it.'
} as const

export const pending = paymentSetup.createStateConfig({
  description: 'Accepted; the authorisation is not finished.',
  on: {
    AUTHORISE: { actions: 'authorise', description: 'First delivery of the command: ask the issuer.' },
    APPROVED: [
      {
        guard: 'isCapturedAtNetwork',
        target: 'captured',
        actions: ['noteAuthorised', 'noteCaptured', 'succeed'],
        description: 'Authorised and captured in one step.'
      },
      ...heldOrCaptured
    ],
    DECLINED: { target: 'failed', actions: ['noteDeclined', 'fail', 'endNotice'], description: 'The issuer said no.' },
    REJECTED: {
      target: 'failed',
      actions: ['fail', 'endNotice'],
      description: 'The network refused the sale as such.'
    },
    NOT_SENT: {
      target: 'failed',
      actions: ['fail', 'endNotice'],
      description: 'The network could not be reached; nothing was sent.'
    },
    OVERDUE: {
      target: 'failed',
      actions: ['fail', 'endNotice'],
      description: 'No worker took it in time, and the buyer has left; nothing was sent.'
    },
    CARD_MISSING: {
      target: 'failed',
      actions: ['fail', 'endNotice'],
      description: 'The card data is gone or can not be opened; nothing was sent.'
    },
    AMBIGUOUS: {
      target: 'unknown',
      actions: 'beginInquiry',
      description: 'No conclusive answer: never guess, ask.'
    },
    RESUMED: {
      target: 'unknown',
      actions: 'beginInquiry',
      description: 'Redelivered after a crash: it may have been sent.'
    },
    POISONED: {
      target: 'unknown',
      actions: ['beginInquiry', 'callForPoison'],
      description: 'Delivered too often: ask, and tell a person.'
    },
    ...remembersNotice
  }
})

export const unknown = paymentSetup.createStateConfig({
  description: 'The outcome of the authorisation is not known; the network is asked until it is.',
  on: {
    RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
    FOUND_CAPTURED: [
      surplusOfUnknown,
      {
        target: 'captured',
        actions: ['noteAuthorised', 'noteCaptured', 'succeed'],
        description: 'It was captured.'
      }
    ],
    FOUND_AUTHORISED: [surplusOfUnknown, ...heldOrCaptured],
    FOUND_DENIED: [
      {
        guard: 'hasSurplus',
        actions: ['callForSurplus', 'voidSurplus'],
        description: 'Denied, and there is another sale that is not: void that first.'
      },
      {
        target: 'failed',
        actions: ['noteDeclined', 'fail', 'endNotice'],
        description: 'The issuer had said no.'
      }
    ],
    FOUND_VOIDED: [
      {
        guard: 'hasSurplus',
        actions: ['callForSurplus', 'voidSurplus'],
        description: 'Undone, and there is another sale that is not: void that first.'
      },
      {
        target: 'failed',
        actions: ['noteDeclined', 'fail', 'endNotice'],
        description: 'The sale was undone; nothing is charged.'
      }
    ],
    ABSENT: [
      {
        guard: 'isBeyondHorizon',
        target: 'failed.watched',
        actions: ['fail', 'endNotice', 'watch'],
        description: 'Unknown to the network for the whole horizon: it never arrived.'
      },
      { actions: 'askLater', description: 'It may still arrive: ask again later.' }
    ],
    OPERATION_CONCLUDED: {
      guard: 'isConcludedAsMissing',
      target: 'failed',
      actions: ['fail', 'endNotice', 'settleAttention'],
      description: 'A person has seen that there is no sale, or that it was undone.'
    },
    ...surplusVoided,
    ...stillOpen,
    ...remembersNotice
  }
})

export const failed = paymentSetup.createStateConfig({
  description: 'Not authorised; nothing charged.',
  initial: 'settled',
  states: {
    settled: {
      description: 'The network said so, or nothing was ever sent.',
      on: {
        NETWORK_NOTICE: { actions: 'askNetwork', description: 'The network speaks of a sale: look at once.' }
      }
    },
    watched: {
      description: 'Unknown to the network for the whole horizon; looked for once more, much later.',
      on: {
        OPERATION_CONCLUDED: {
          guard: 'isConcludedAsMissing',
          target: 'settled',
          actions: ['endInquiry', 'settleAttention'],
          description: 'A person has seen that there is no sale, or that it was undone.'
        }
      }
    }
  },
  on: {
    RECONCILE: { actions: 'askNetwork', description: 'Look whether a sale turned up after all.' },
    FOUND_AUTHORISED: lateSale,
    FOUND_CAPTURED: lateSale,
    FOUND_DENIED: [
      {
        guard: 'hasSurplus',
        target: '.watched',
        actions: ['askLater', 'callForLateSale', 'voidSurplus'],
        description: 'Denied, and there is another sale that is not: void it.'
      },
      { target: '.settled', actions: 'endInquiry', description: 'Nothing is charged.' }
    ],
    FOUND_VOIDED: [
      {
        guard: 'hasSurplus',
        actions: ['askLater', 'voidSurplus'],
        description: 'The late sale is voided, and there is another one: void that too.'
      },
      { target: '.settled', actions: 'endInquiry', description: 'Nothing is charged any more.' }
    ],
    ABSENT: { target: '.settled', actions: 'endInquiry', description: 'There is no sale.' },
    APPROVED: { actions: 'askNetwork', description: 'The late sale is voided: look again.' },
    ...notVoided,
    REJECTED: [
      {
        guard: 'isTooLate',
        target: '.settled',
        actions: 'endInquiry',
        description: 'The network does not void it any more: it is left to the person who was told.'
      },
      notVoided.REJECTED
    ],
    ...stillOpen
  }
})
