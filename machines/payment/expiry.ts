/** The end of the window of a hold: `expired`, until the hold is surely released. */
import { notVoided, stillOpen } from './fragments.js'
import { verifiedGone } from './notices.js'
import { paymentSetup } from './setup.js'

export const expired = paymentSetup.createStateConfig({
  description: 'Not captured within the window.',
  initial: 'releasing',
  states: {
    releasing: {
      description: 'The hold is released at the network, and tried again until it is.',
      on: {
        APPROVED: { target: 'released', actions: 'endInquiry', description: 'The hold is gone.' },
        ...notVoided,
        AMBIGUOUS: {
          actions: 'beginReleaseInquiry',
          description: 'Whether it is voided is not known, and the void may still arrive: ask.'
        },
        REJECTED: [
          {
            guard: 'isTooLate',
            target: 'released',
            actions: 'endInquiry',
            description: 'Too late to void it: the hold has lapsed at the issuer.'
          },
          notVoided.REJECTED
        ],
        RESUMED: { actions: 'beginReleaseInquiry', description: 'Redelivered after a crash: ask.' },
        RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
        NETWORK_NOTICE: {
          actions: ['noteNotice', 'askNetwork'],
          description: 'Something happened to the sale: look at once.'
        },
        FOUND_AUTHORISED: [
          {
            guard: 'isChangeAwaited',
            actions: 'askLater',
            description:
              'What was announced a moment ago may be a capture that the record does not show yet: no void before.'
          },
          {
            actions: ['beginReleaseInquiry', 'voidSale'],
            description: 'Still held: a whole void works once only, send it again.'
          }
        ],
        FOUND_VOIDED: [
          {
            guard: 'hasSurplus',
            target: 'released',
            actions: ['endInquiry', 'noteNotice'],
            description: 'The hold is gone, and there is a second sale: look at that next.'
          },
          { target: 'released', actions: 'endInquiry', description: 'The hold is gone.' }
        ],
        FOUND_DENIED: [
          {
            guard: 'hasSurplus',
            target: 'released',
            actions: ['endInquiry', 'noteNotice'],
            description: 'There is no hold, but a second sale: look at that next.'
          },
          { target: 'released', actions: 'endInquiry', description: 'There is no hold.' }
        ],
        ABSENT: [
          {
            guard: 'isBeyondHorizon',
            target: 'released',
            actions: 'endInquiry',
            description: 'Unknown to the network for the whole horizon: there is no hold.'
          },
          { actions: 'askLater', description: 'The network does not find the sale now: ask again later.' }
        ],
        FOUND_CAPTURED: [
          {
            guard: 'isBeyondHorizon',
            target: '#payment.captured',
            actions: ['noteCaptured', 'endInquiry', 'noteNotice', 'callForFigures'],
            description: 'Captured without us, and no void in the whole horizon: take over its record, tell a person.'
          },
          {
            actions: ['askLater', 'callForFigures'],
            description: 'Captured without us, and a void may still arrive and refund it: ask again later.'
          }
        ],
        ...stillOpen,
        POISONED: {
          actions: ['beginReleaseInquiry', 'callForPoison'],
          description: 'Delivered too often: ask, and tell a person.'
        }
      }
    },
    released: { description: 'The buyer has the money back.', on: { ...verifiedGone } }
  }
})
