/**
 * The blocks that states share: `verifiable` adds what a payment does about a notification of the network while no
 * operation runs, `sending` what it does when its call gets no answer, `inDoubt` what it does until the outcome is known.
 * `operation` is a status with the phases `sending` and `reconciling`. A state's own transitions are asked first; one
 * without a condition replaces the block's.
 */

import type { PaymentState, PaymentTag } from './chart-setup.js'
import { listContradiction, listForReview, queryNetwork, voidDuplicate } from './effects.js'

/**
 * A notification may be lost, late or false: the network is queried, and the acquirer's record counts. What the record
 * changes is in the states themselves.
 */
const verification = {
  NETWORK_NOTIFICATION: {
    actions: ['scheduleVerification', queryNetwork],
    description: 'A notification is only a hint: query the network.'
  },
  RECONCILE: { actions: queryNetwork, description: 'Verify again what was reported.' },
  NOTHING_NEW: { actions: 'endVerification', description: 'The record shows what we know: verified.' },
  RECORD_LAGS: { actions: 'verifyLater', description: 'The record may be behind: verify later.' },
  NO_ANSWER: { actions: 'verifyLater', description: 'The network does not answer: verify later.' },
  CONTRADICTED: {
    actions: ['endVerification', listContradiction],
    description: 'The record contradicts the payment: list it for manual review.'
  },
  DUPLICATE_SALE: {
    actions: ['verifyLater', listForReview('duplicate_sale'), voidDuplicate],
    description: 'There is a second sale: void it, and list the payment for manual review.'
  },
  POISONED: {
    actions: ['verifyLater', listForReview('poisoned')],
    description: 'The query failed too often: verify later, and list the payment for manual review.'
  }
} as const

/** What a correction by the record does, wherever it leads. */
export const amountCorrection = {
  actions: ['noteCorrection', listForReview('figures_differ'), queryNetwork],
  description:
    'Another amount was authorised or captured: take it over, list the payment for manual review, and query again.'
} as const

const noOutcome = (target: 'reconciling' | 'unknown') => ({
  UNPROVEN: {
    target,
    actions: ['beginDoubt', queryNetwork],
    description: 'The answer proves nothing: query at once, the record decides.'
  },
  AMBIGUOUS: { target, actions: 'beginDoubt', description: 'No conclusive answer: reconcile.' },
  RESUMED: {
    target,
    actions: 'beginDoubt',
    description: 'Redelivered after a crash: it may have been sent, reconcile.'
  },
  POISONED: {
    target,
    actions: ['beginDoubt', listForReview('poisoned')],
    description: 'Delivered too often: reconcile, and list the payment for manual review.'
  }
})

const reconciliation = {
  RECONCILE: { actions: queryNetwork, description: 'Query by our order id.' },
  RECORD_LAGS: { actions: 'reconcileLater', description: 'The record does not show it yet: reconcile again later.' },
  NO_ANSWER: { actions: 'reconcileLater', description: 'The network does not answer: reconcile again later.' },
  CONTRADICTED: {
    actions: ['reconcileLater', listContradiction],
    description: 'The record contradicts the payment, for a moment perhaps: list it, and reconcile again later.'
  },
  POISONED: {
    actions: ['reconcileLater', listForReview('poisoned')],
    description: 'The query failed too often: reconcile again later, and list the payment for manual review.'
  }
} as const

/** A state in which no operation runs: what the network reports is verified at once. */
export function verifiable(state: PaymentState): PaymentState {
  return withBlock(state, verification, 'verifiable')
}

/** A state in which a call of the running operation is on its way to the network. Without an outcome it goes to `doubt`. */
export function sending(doubt: 'reconciling' | 'unknown', state: PaymentState): PaymentState {
  return withBlock(state, noOutcome(doubt), 'in_flight')
}

/** A state in which an outcome is not known. */
export function inDoubt(state: PaymentState): PaymentState {
  return withBlock(state, reconciliation)
}

/** A status in which an operation of the merchant runs: its call is sent, then its outcome is known or in doubt. */
export function operation(
  description: string,
  states: { readonly sending: PaymentState; readonly reconciling: PaymentState }
): PaymentState {
  return {
    description,
    tags: ['in_progress'],
    initial: 'sending',
    states: {
      sending: sending('reconciling', withBlock(states.sending, { EARLIER_TRY_IN_DOUBT: earlierTryInDoubt })),
      reconciling: inDoubt(withBlock(states.reconciling, { DUPLICATE_SALE: duplicateFirst }))
    }
  }
}

/** Of a refund only when the data came back while the call was made: else no refund is sent beside one that may arrive. */
const earlierTryInDoubt = {
  target: 'reconciling',
  actions: 'keepDoubt',
  description: 'This try did nothing, but an earlier one may still arrive: reconcile.'
} as const

/** A second live sale under our order, while an operation is in doubt: the buyer must not pay twice. */
const duplicateFirst = {
  actions: ['reconcileLater', listForReview('duplicate_sale'), voidDuplicate],
  description: 'There is a second sale: void it first, and list the payment for manual review.'
} as const

function withBlock(state: PaymentState, block: Readonly<Record<string, object>>, ...tags: PaymentTag[]): PaymentState {
  const on: Record<string, unknown> = { ...state.on }
  for (const [event, shared] of Object.entries(block)) {
    const own = [on[event] ?? []].flat()
    if (own.every(hasGuard)) on[event] = [...own, shared]
  }
  return { ...state, tags: [state.tags ?? [], tags].flat(), on }
}

function hasGuard(transition: unknown): boolean {
  return typeof transition === 'object' && transition !== null && 'guard' in transition
}
