/**
 * An authorised amount until it is captured, let go, or out of time:
 * `pre_authorized`, `capturing`, `cancelling`, `canceled`; `expired` is in expiry.ts.
 */
import {
  asksAboutHold,
  backToHold,
  concludedAsMissing,
  deniedForNow,
  inDoubt,
  surplusFirst,
  surplusVoided
} from './fragments.js'
import {
  asksAboutNotice,
  heldAgain,
  notFoundNow,
  nothingNew,
  noticeStillOpen,
  remembersNotice,
  surplusTurnedUp,
  surplusWasVoided,
  verifiedGone
} from './notices.js'
import { paymentSetup } from './setup.js'

/** The window is over, and the network does not say how the sale stands: no blind void, it may have been captured. */
const expiresUnseen = {
  guard: 'isDue',
  target: 'expired',
  actions: 'beginReleaseInquiry',
  description: 'The window is over. How the sale stands is not known: release the hold as soon as it is.'
} as const

export const preAuthorized = paymentSetup.createStateConfig({
  description: 'The amount is held on the card and waits for its capture.',
  on: {
    CAPTURE: {
      guard: 'isCapturable',
      target: 'capturing',
      actions: ['beginOperation', 'captureSale'],
      description: 'Take the amount or a part of it.'
    },
    CANCEL: {
      guard: 'isWholeAmount',
      target: 'cancelling',
      actions: ['beginOperation', 'voidSale'],
      description: 'Let the hold go.'
    },
    EXPIRE: {
      guard: 'isDue',
      actions: 'askNetwork',
      description: 'The window is over. Ask before the hold is voided: to void a captured sale refunds it.'
    },
    ...asksAboutNotice,
    FOUND_AUTHORISED: [
      surplusTurnedUp,
      {
        guard: 'isDueWithChangeAwaited',
        target: 'expired',
        actions: 'beginReleaseInquiry',
        description:
          'The window is over, and what was announced a moment ago may be a capture: no void before that is clear.'
      },
      {
        guard: 'isDue',
        target: 'expired',
        actions: ['endNotice', 'voidSale'],
        description: 'The window is over, and it was not captured: release the hold.'
      },
      ...nothingNew
    ],
    FOUND_CAPTURED: [
      surplusTurnedUp,
      {
        target: 'captured',
        actions: ['noteCaptured', 'callForFigures'],
        description: 'Captured without us: take over its record, tell a person.'
      }
    ],
    FOUND_VOIDED: [
      surplusTurnedUp,
      {
        guard: 'isDue',
        target: 'expired.released',
        actions: 'endNotice',
        description: 'The window is over, and the hold is gone already.'
      },
      {
        target: 'canceled',
        actions: ['noteCanceled', 'endNotice', 'callForFigures'],
        description: 'Undone without us: take over its record, tell a person.'
      }
    ],
    FOUND_DENIED: [
      surplusTurnedUp,
      {
        guard: 'isDue',
        target: 'expired.released',
        actions: ['endNotice', 'callForFigures'],
        description: 'Contradicts the authorisation, and the window is over: there is no hold. Tell a person.'
      },
      { actions: ['endNotice', 'callForFigures'], description: 'Contradicts the authorisation: tell a person.' }
    ],
    ...surplusWasVoided,
    FOUND_UNFINISHED: [expiresUnseen, noticeStillOpen.FOUND_UNFINISHED],
    ABSENT: [expiresUnseen, notFoundNow],
    NO_ANSWER: [expiresUnseen, noticeStillOpen.NO_ANSWER],
    POISONED: [{ ...expiresUnseen, actions: ['beginReleaseInquiry', 'callForPoison'] }, noticeStillOpen.POISONED]
  }
})

export const capturing = paymentSetup.createStateConfig({
  description: 'The capture is in progress.',
  initial: 'sending',
  on: { ...remembersNotice },
  states: {
    sending: {
      description: 'The capture is on its way to the network.',
      on: {
        APPROVED: { target: '#payment.captured', actions: ['noteCaptured', 'succeed'], description: 'Captured.' },
        ...backToHold,
        ...inDoubt
      }
    },
    asking: {
      description: 'Whether the capture is booked is not known; the network is asked.',
      on: {
        FOUND_CAPTURED: [
          surplusFirst,
          {
            target: '#payment.captured',
            actions: ['noteCaptured', 'succeed'],
            description: 'It was captured.'
          }
        ],
        FOUND_AUTHORISED: [
          surplusFirst,
          {
            target: 'sending',
            actions: ['resend', 'captureSale'],
            description: 'Not captured. The network takes one capture only: safe to send again.'
          }
        ],
        FOUND_VOIDED: [
          surplusFirst,
          {
            target: '#payment.canceled',
            actions: ['noteCanceled', 'fail', 'callForFigures'],
            description: 'The network undid the sale by itself.'
          }
        ],
        FOUND_DENIED: [
          surplusFirst,
          {
            guard: 'isBeyondHorizon',
            target: '#payment.canceled',
            actions: ['noteCanceled', 'fail', 'noteNotice', 'callForFigures'],
            description: 'Still denied after the horizon: no hold to capture. Take over the record, tell a person.'
          },
          deniedForNow
        ],
        OPERATION_CONCLUDED: [
          {
            guard: 'isConcludedAsBooked',
            target: '#payment.captured',
            actions: ['noteCaptured', 'succeed', 'settleAttention'],
            description: 'A person has seen that it is captured.'
          },
          concludedAsMissing
        ],
        ...surplusVoided,
        ...asksAboutHold
      }
    }
  }
})

export const cancelling = paymentSetup.createStateConfig({
  description: 'The cancellation of the pre-authorisation is in progress.',
  initial: 'sending',
  on: { ...remembersNotice },
  states: {
    sending: {
      description: 'The void is on its way to the network.',
      on: {
        APPROVED: {
          target: '#payment.canceled',
          actions: ['noteCanceled', 'succeed'],
          description: 'The hold is gone.'
        },
        ...backToHold,
        ...inDoubt
      }
    },
    asking: {
      description: 'Whether the hold is gone is not known; the network is asked.',
      on: {
        FOUND_VOIDED: [
          surplusFirst,
          {
            target: '#payment.canceled',
            actions: ['noteCanceled', 'succeed'],
            description: 'The hold is gone.'
          }
        ],
        FOUND_AUTHORISED: [
          surplusFirst,
          {
            target: 'sending',
            actions: ['resend', 'voidSale'],
            description: 'Still held. A whole void works once only: safe to send again.'
          }
        ],
        FOUND_CAPTURED: [
          surplusFirst,
          {
            guard: 'isBeyondHorizon',
            target: '#payment.captured',
            actions: ['noteCaptured', 'fail', 'callForFigures'],
            description: 'Captured without us, and no void in the whole horizon: take over its record, tell a person.'
          },
          {
            actions: ['askLater', 'callForFigures'],
            description: 'Captured without us, and the void may still arrive and refund it: ask again later.'
          }
        ],
        FOUND_DENIED: [
          surplusFirst,
          {
            guard: 'isBeyondHorizon',
            target: '#payment.canceled',
            actions: ['noteCanceled', 'succeed', 'noteNotice', 'callForFigures'],
            description: 'Still denied after the horizon: the hold is gone. Take over the record, tell a person.'
          },
          deniedForNow
        ],
        OPERATION_CONCLUDED: [
          {
            guard: 'isConcludedAsBooked',
            target: '#payment.canceled',
            actions: ['noteCanceled', 'succeed', 'settleAttention'],
            description: 'A person has seen that the hold is gone.'
          },
          concludedAsMissing
        ],
        ...surplusVoided,
        ...asksAboutHold
      }
    }
  }
})

export const canceled = paymentSetup.createStateConfig({
  description: 'The pre-authorisation is undone; nothing was charged.',
  on: {
    ...verifiedGone,
    FOUND_AUTHORISED: [
      surplusTurnedUp,
      {
        guard: 'isCancelStillToShow',
        actions: 'verifyNoticeLater',
        description: 'The record does not show a cancellation of a moment ago: it may be behind, verify later.'
      },
      heldAgain
    ]
  }
})
