/**
 * An authorised amount until it is captured, voided, or out of time:
 * `pre_authorized`, `capturing`, `cancelling`, `canceled`, `expired`.
 */

import type { PaymentState } from './chart-setup.js'
import { captureSale, listForReview, queryNetwork, voidSale } from './effects.js'
import { amountCorrection, inDoubt, operation, verifiable } from './state-blocks.js'

export const preAuthorized = verifiable({
  description: 'The amount is held on the card and waits for its capture.',
  on: {
    CAPTURE: {
      guard: 'isCapturable',
      target: 'capturing',
      actions: ['beginOperation', captureSale],
      description: 'Take the amount or a part of it.'
    },
    CANCEL: {
      guard: 'isWholeAmount',
      target: 'cancelling',
      actions: ['beginOperation', voidSale],
      description: 'Void the hold.'
    },
    EXPIRE: {
      guard: 'isDue',
      actions: queryNetwork,
      description: 'The window is over. Query before the hold is voided: to void a captured sale refunds it.'
    },
    HOLD_LAPSED: {
      target: 'expired',
      actions: ['endVerification', voidSale],
      description: 'The window is over, and it was not captured: void the hold.'
    },
    HOLD_UNCLEAR: {
      target: 'expired',
      actions: 'releaseLater',
      description: 'The window is over. How the sale stands is not known: void the hold as soon as it is.'
    },
    SALE_CAPTURED: {
      target: 'captured',
      actions: ['noteCaptured', 'verifyChargeback', listForReview('figures_differ')],
      description: 'Captured without us: the record counts. List the payment for manual review.'
    },
    SALE_GONE: [
      {
        guard: 'isDue',
        target: 'expired.released',
        actions: 'endVerification',
        description: 'The window is over, and the hold is gone already.'
      },
      {
        target: 'canceled',
        actions: ['noteCanceled', 'endVerification', listForReview('figures_differ')],
        description: 'Voided without us: the record counts. List the payment for manual review.'
      }
    ],
    AMOUNT_CORRECTED: amountCorrection,
    CONTRADICTED: {
      guard: 'isDue',
      target: 'expired.released',
      actions: ['endVerification', listForReview('figures_differ')],
      description: 'Denied after all, and the window is over: there is no hold. List the payment for manual review.'
    },
    POISONED: {
      guard: 'isDue',
      target: 'expired',
      actions: ['releaseLater', listForReview('poisoned')],
      description: 'The window is over, and the query failed too often: void the hold when it is clear how it stands.'
    }
  }
})

const holdStays = {
  target: '#payment.pre_authorized',
  actions: ['fail', 'confirmLater'],
  description: 'Refused, or not sent: the hold stays.'
} as const

const notBooked = {
  target: '#payment.pre_authorized',
  actions: ['fail', 'confirmLater'],
  description: 'Not booked, by the record or an operator, and no try can be booked any more: the hold stays.'
} as const

export const capturing = operation('The capture is in progress.', {
  sending: {
    description: 'The capture is on its way to the network.',
    on: {
      APPROVED: {
        target: '#payment.captured',
        actions: ['noteCaptured', 'succeed', 'confirmPart'],
        description: 'Captured. A capture of a part is compared with the record later.'
      },
      OPERATION_FAILED: holdStays
    }
  },
  reconciling: {
    description: 'The capture is in doubt; it is reconciled.',
    on: {
      OPERATION_BOOKED: {
        target: '#payment.captured',
        actions: ['noteCaptured', 'succeed', 'verifyChargeback'],
        description: 'It was captured.'
      },
      OPERATION_MISSING: {
        target: 'sending',
        actions: ['resend', captureSale],
        description: 'Not captured. The network takes one capture only: safe to send again.'
      },
      OPERATION_NOT_BOOKED: notBooked,
      SALE_GONE: {
        target: '#payment.canceled',
        actions: ['noteCanceled', 'fail', listForReview('figures_differ')],
        description: 'The network voided the sale without a request from us.'
      },
      SALE_DENIED: {
        target: '#payment.canceled',
        actions: ['noteCanceled', 'fail', 'scheduleVerification', listForReview('figures_differ')],
        description: 'Still denied after the horizon: there is no hold to capture. List the payment for manual review.'
      }
    }
  }
})

export const cancelling = operation('The cancellation of the pre-authorisation is in progress.', {
  sending: {
    description: 'The void is on its way to the network.',
    on: {
      APPROVED: {
        target: '#payment.canceled',
        actions: ['noteCanceled', 'succeed'],
        description: 'The hold is gone.'
      },
      OPERATION_FAILED: holdStays
    }
  },
  reconciling: {
    description: 'The void is in doubt; it is reconciled.',
    on: {
      OPERATION_BOOKED: {
        target: '#payment.canceled',
        actions: ['noteCanceled', 'succeed'],
        description: 'The hold is gone.'
      },
      OPERATION_MISSING: {
        target: 'sending',
        actions: ['resend', voidSale],
        description: 'Still held. A whole void works once only: safe to send again.'
      },
      OPERATION_NOT_BOOKED: notBooked,
      SALE_CAPTURED: {
        target: '#payment.captured',
        actions: ['noteCaptured', 'fail', 'verifyChargeback', listForReview('figures_differ')],
        description: 'Captured without us, and no void came in the whole horizon: list the payment for manual review.'
      },
      SALE_DENIED: {
        target: '#payment.canceled',
        actions: ['noteCanceled', 'succeed', 'scheduleVerification', listForReview('figures_differ')],
        description: 'Still denied after the horizon: the hold is gone. List the payment for manual review.'
      }
    }
  }
})

export const canceled = verifiable({
  description: 'The pre-authorisation is voided; nothing was charged.',
  tags: ['resting']
})

export const expired: PaymentState = {
  description: 'Not captured within the window.',
  initial: 'releasing',
  states: {
    releasing: inDoubt({
      description: 'The hold is voided at the network, and tried again until it is.',
      tags: ['in_flight'],
      on: {
        APPROVED: { target: 'released', actions: 'endDoubt', description: 'The hold is gone.' },
        UNPROVEN: {
          actions: ['beginReleaseDoubt', queryNetwork],
          description: 'The answer proves nothing: query at once, the record decides.'
        },
        AMBIGUOUS: {
          actions: 'beginReleaseDoubt',
          description: 'Whether it is voided is not known, and the void may still arrive: reconcile.'
        },
        RESUMED: { actions: 'beginReleaseDoubt', description: 'Redelivered after a crash: reconcile.' },
        OPERATION_MISSING: {
          actions: ['resendRelease', voidSale],
          description: 'Still held: a whole void works once only, send it again.'
        },
        OPERATION_NOT_BOOKED: {
          actions: 'reconcileLater',
          description: 'Still held, and the network takes no void: query until the issuer has released it.'
        },
        SALE_GONE: { target: 'released', actions: 'endDoubt', description: 'There is no hold any more.' },
        DUPLICATE_SALE: {
          target: 'released',
          actions: ['endDoubt', 'scheduleVerification'],
          description: 'There is no hold, but a second sale: query that next.'
        },
        SALE_CAPTURED: {
          target: '#payment.captured',
          actions: ['noteCaptured', 'endDoubt', 'scheduleVerification', listForReview('figures_differ')],
          description: 'Captured without us, and no void came in the whole horizon: list the payment for manual review.'
        },
        POISONED: {
          actions: ['beginReleaseDoubt', listForReview('poisoned')],
          description:
            'Delivered too often: the void may have been sent, reconcile. List the payment for manual review.'
        }
      }
    }),
    released: verifiable({ description: 'The buyer has the money back.', tags: ['resting'] })
  }
}
