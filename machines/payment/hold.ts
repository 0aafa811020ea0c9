/**
 * An authorised amount until it is captured, let go, or out of time:
 * `pre_authorized`, `capturing`, `cancelling`, `canceled`, `expired`.
 */
import { asksAboutHold, backToHold, inDoubt, notVoided, remembersNotice, stillOpen, verifiedGone } from './fragments.js'
import { paymentSetup } from './setup.js'

export const preAuthorized = paymentSetup.createStateConfig({
  description: 'The amount is held on the card and waits for its capture.',
  on: {
    CAPTURE: {
      guard: 'isCapturable',
      target: 'capturing',
      actions: ['beginCapture', 'captureSale'],
      description: 'Take the amount or a part of it.'
    },
    CANCEL: {
      guard: 'isWholeAmount',
      target: 'cancelling',
      actions: ['beginCancel', 'voidSale'],
      description: 'Let the hold go.'
    },
    EXPIRE: {
      guard: 'isDue',
      target: 'expired',
      actions: ['endInquiry', 'endDispute', 'voidSale'],
      description: 'The window is over: release the hold.'
    },
    ...remembersNotice
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
        FOUND_CAPTURED: {
          target: '#payment.captured',
          actions: ['noteCaptured', 'succeed'],
          description: 'It was captured.'
        },
        FOUND_AUTHORISED: {
          target: 'sending',
          actions: ['resend', 'captureSale'],
          description: 'Not captured. The network takes one capture only: safe to send again.'
        },
        FOUND_VOIDED: {
          target: '#payment.canceled',
          actions: ['noteCanceled', 'fail', 'callForFigures'],
          description: 'The network undid the sale by itself.'
        },
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
        FOUND_VOIDED: {
          target: '#payment.canceled',
          actions: ['noteCanceled', 'succeed'],
          description: 'The hold is gone.'
        },
        FOUND_AUTHORISED: {
          target: 'sending',
          actions: ['resend', 'voidSale'],
          description: 'Still held. A whole void works once only: safe to send again.'
        },
        FOUND_CAPTURED: {
          target: '#payment.captured',
          actions: ['noteCaptured', 'fail', 'callForFigures'],
          description: 'Captured without us: its books rule, tell a person.'
        },
        ...asksAboutHold
      }
    }
  }
})

export const canceled = paymentSetup.createStateConfig({
  description: 'The pre-authorisation is undone; nothing was charged.',
  on: { ...verifiedGone }
})

export const expired = paymentSetup.createStateConfig({
  description: 'Not captured within the window.',
  initial: 'releasing',
  states: {
    releasing: {
      description: 'The hold is released at the network, and tried again until it is.',
      on: {
        APPROVED: { target: 'released', actions: 'endInquiry', description: 'The hold is gone.' },
        ...notVoided,
        RESUMED: { actions: 'beginReleaseInquiry', description: 'Found again after a crash: ask.' },
        RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
        CHARGEBACK_NOTICE: { actions: 'askNetwork', description: 'Something happened to the sale: look at once.' },
        FOUND_AUTHORISED: {
          actions: ['askLater', 'voidSale'],
          description: 'Still held: a whole void works once only, send it again.'
        },
        FOUND_VOIDED: { target: 'released', actions: 'endInquiry', description: 'The hold is gone.' },
        FOUND_DENIED: { target: 'released', actions: 'endInquiry', description: 'There is no hold.' },
        ABSENT: [
          {
            guard: 'isBeyondHorizon',
            target: 'released',
            actions: 'endInquiry',
            description: 'Unknown to the network for the whole horizon: there is no hold.'
          },
          { actions: 'askLater', description: 'The network does not find the sale now: ask again later.' }
        ],
        FOUND_CAPTURED: {
          actions: ['askLater', 'callForFigures'],
          description: 'Captured without us: tell a person.'
        },
        ...stillOpen
      }
    },
    released: { description: 'The buyer has the money back.', on: { ...verifiedGone } }
  }
})
