/**
 * From the accepted request to the answer of the issuer: `pending`, `unknown`, `failed`.
 */
import {
  authorise,
  captureSale,
  listContradiction,
  listForReview,
  queryNetwork,
  voidDuplicate,
  voidLateSale
} from './effects.js'
import { inDoubt, sending } from './state-blocks.js'

const toPreAuthorizedOrCapturing = [
  {
    guard: 'isManual',
    target: 'pre_authorized',
    actions: ['noteAuthorised', 'succeed'],
    description: 'The amount is held on the card.'
  },
  {
    target: 'capturing',
    actions: ['noteAuthorised', 'continueWithCapture', captureSale],
    description: 'Only authorised: send the capture that was asked for.'
  }
] as const

/** The payment ends unpaid. */
function toFailed(description: string) {
  return { target: 'failed', actions: ['fail', 'endVerification'], description } as const
}

export const pending = sending('unknown', {
  description: 'Accepted; the authorisation is not finished.',
  tags: ['in_progress'],
  on: {
    AUTHORISE: { actions: authorise, description: 'First delivery of the command: ask the issuer.' },
    APPROVED: [
      {
        guard: 'isCapturedAtNetwork',
        target: 'captured',
        actions: ['noteAuthorised', 'noteCaptured', 'succeed'],
        description: 'Authorised and captured in one step.'
      },
      ...toPreAuthorizedOrCapturing
    ],
    DECLINED: {
      target: 'failed',
      actions: ['noteDeclined', 'fail', 'endVerification'],
      description: 'The issuer declined.'
    },
    REJECTED: toFailed('The network refused the sale as such.'),
    NOT_SENT: toFailed('The network could not be reached; nothing was sent.'),
    OVERDUE: toFailed('No worker took it in time, and the buyer has left; nothing was sent.'),
    CARD_MISSING: toFailed('The card data is gone or cannot be opened; nothing was sent.')
  }
})

export const unknown = inDoubt({
  description: 'The authorisation is in doubt; it is reconciled until its outcome is known.',
  tags: ['in_progress'],
  on: {
    SALE_CAPTURED: {
      target: 'captured',
      actions: ['noteAuthorised', 'noteCaptured', 'succeed', 'verifyChargeback'],
      description: 'It was captured.'
    },
    SALE_AUTHORISED: toPreAuthorizedOrCapturing,
    SALE_GONE: {
      target: 'failed.watched',
      actions: ['noteDeclined', 'fail', 'endVerification', 'watch'],
      description:
        'The issuer declined, or the sale was voided; nothing is charged. The record may be behind: look again.'
    },
    SALE_ABSENT: {
      target: 'failed.watched',
      actions: ['fail', 'endVerification', 'watch'],
      description: 'Unknown to the network for the whole horizon: it never arrived.'
    },
    DUPLICATE_SALE: {
      actions: ['noteReferences', listForReview('duplicate_sale'), voidDuplicate],
      description: 'More than one sale: void the duplicate first.'
    },
    CONTRADICTED: {
      actions: ['noteReferences', 'reconcileLater', listContradiction],
      description: 'The record contradicts the payment, for a moment perhaps: list it, and reconcile again later.'
    },
    RESOLVED_AS_BOOKED: [
      {
        guard: 'isManualSaleKnown',
        target: 'pre_authorized',
        actions: ['noteAuthorised', 'succeed'],
        description: 'An operator has seen that the amount is held.'
      },
      {
        guard: 'isSaleKnown',
        target: 'captured',
        actions: ['noteAuthorised', 'noteCaptured', 'succeed'],
        description: 'An operator has seen that it is captured.'
      }
    ],
    RESOLVED_AS_MISSING: {
      target: 'failed',
      actions: ['fail', 'endVerification'],
      description: 'An operator has seen that there is no sale, or that it was voided.'
    }
  }
})

export const failed = inDoubt({
  description: 'Not authorised; nothing charged.',
  initial: 'settled',
  states: {
    settled: {
      description: 'The network said so, or nothing was ever sent.',
      tags: ['resting']
    },
    watched: {
      description: 'A sale may turn up late: the network is queried once more, or until it shows what it reported.',
      on: {
        RESOLVED_AS_MISSING: {
          target: 'settled',
          actions: 'endDoubt',
          description: 'An operator has seen that there is no sale, or that it was voided.'
        }
      }
    }
  },
  on: {
    NETWORK_NOTIFICATION: {
      target: '.watched',
      actions: ['watchReport', queryNetwork],
      description: 'The network reports a sale: query it, and again later, because the record may be behind.'
    },
    SALE_GONE: { target: '.settled', actions: 'endDoubt', description: 'There is no sale, or nothing is charged.' },
    LATE_SALE: {
      target: '.watched',
      actions: ['noteReferences', 'reconcileLater', listForReview('sale_after_failure'), voidLateSale],
      description: 'A sale turned up late: void it.'
    },
    DUPLICATE_SALE: {
      target: '.watched',
      actions: ['reconcileLater', listForReview('sale_after_failure'), voidDuplicate],
      description: 'There is another sale that is live: void it.'
    }
  }
})
