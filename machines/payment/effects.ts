/**
 * What the chart asks the worker to do: actions whose params are the effect. Without the id of a sale nothing can be
 * sent: the network is queried for it first.
 */
import type { ReviewReason } from '../model.js'
import type { PaymentArgs, PaymentContext } from './context.js'
import type { Effect } from './events.js'

/** The call that each of these actions asks for. */
export const effectKinds: Readonly<Record<string, Effect['kind']>> = {
  authorise: 'authorise',
  queryNetwork: 'query',
  captureSale: 'capture',
  refundSale: 'refund',
  voidSale: 'void',
  voidDuplicate: 'void',
  voidLateSale: 'void'
}

export const authorise = { type: 'authorise', params: { kind: 'authorise' } } as const

export const queryNetwork = { type: 'queryNetwork', params: { kind: 'query' } } as const

export const captureSale = {
  type: 'captureSale',
  params: ({ context }: PaymentArgs) =>
    ofSale(context, saleId => ({ kind: 'capture', saleId, amountCents: context.facts.operation.amountCents }))
} as const

export const refundSale = {
  type: 'refundSale',
  params: ({ context }: PaymentArgs) =>
    ofSale(context, saleId => ({ kind: 'refund', saleId, amountCents: context.facts.operation.amountCents }))
} as const

export const voidSale = {
  type: 'voidSale',
  params: ({ context }: PaymentArgs) => ofSale(context, saleId => ({ kind: 'void', saleId }))
} as const

export const voidDuplicate = {
  type: 'voidDuplicate',
  params: ({ event }: PaymentArgs): Effect =>
    event.type === 'DUPLICATE_SALE' && event.duplicateSaleId !== null
      ? { kind: 'void', saleId: event.duplicateSaleId }
      : { kind: 'query' }
} as const

/** It may be another sale than the one that the payment is known to own. */
export const voidLateSale = {
  type: 'voidLateSale',
  params: ({ event }: PaymentArgs): Effect =>
    event.type === 'LATE_SALE' ? { kind: 'void', saleId: event.sale.references.saleId } : { kind: 'query' }
} as const

/** Lists the payment for manual review. */
export function listForReview<Reason extends ReviewReason>(reason: Reason) {
  return { type: 'listForReview', params: { reason } } as const
}

/** The same, for the reason that the record gives. */
export const listContradiction = {
  type: 'listForReview',
  params: ({ event }: PaymentArgs): { reason: ReviewReason } => ({
    reason: event.type === 'CONTRADICTED' ? event.reason : 'figures_differ'
  })
} as const

function ofSale({ facts }: PaymentContext, effect: (saleId: string) => Effect): Effect {
  const { saleId } = facts.references
  return saleId === null ? { kind: 'query' } : effect(saleId)
}
