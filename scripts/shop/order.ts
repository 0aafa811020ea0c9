/** An order of the shop and how answers of the payments API change it. Pure: no I/O. */
import { declineTexts } from '../../client/index.js'
import { demoCustomer } from '../start/demo-customer.js'
import type { Answer, MoneyRequest, PaidPayment } from './payment-requests.js'

export const PRICE_CENTS = 8_990

/**
 * - `open`: nothing was paid; the buyer may try (again)
 * - `under_analysis`: the outcome is not known: nothing is shipped, and no other card is asked for
 * - the rest is what the payment says
 */
export type OrderStatus =
  | 'open'
  | 'under_analysis'
  | 'paid'
  | 'refunding'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'

export interface Order {
  readonly id: string
  readonly status: OrderStatus
  /** Counts of payment attempts and of refunds: parts of the Idempotency-Keys. */
  readonly attempts: number
  readonly refunds: number
  /** The request whose outcome is not known yet. There is never more than one. */
  readonly pending: MoneyRequest | null
  readonly payment: PaidPayment | null
  /** A sentence for the buyer; null when the status says everything. */
  readonly notice: Text | null
  /** The card that may not be tried again; null: none was refused for good. */
  readonly refusedCard: string | null
  /** How the shop learned of the status. */
  readonly source: 'answer' | 'webhook' | 'read' | null
}

/** In the languages of the page. */
export type Text = (typeof declineTexts)['other']

const text = (en: string, pt: string): Text => ({ en, 'pt-BR': pt })

const NOT_CHARGED = text(
  'The card could not be charged. Please try again, or use another card.',
  'Não foi possível cobrar o cartão. Tente de novo ou use outro cartão.'
)
const NOT_DONE = text('That did not work. No money was moved.', 'Não deu certo. Nenhum valor foi movimentado.')

/** The API's messages are for the merchant's engineers; these and `declineTexts` are for the buyer. */
const NOTICES: Readonly<Record<string, Text>> = {
  card_declined: declineTexts.other,
  card_expired: declineTexts.expired_card,
  invalid_token: text(
    'The card details were too old. Nothing was charged; please type them again.',
    'Os dados do cartão expiraram. Nada foi cobrado; digite os dados de novo.'
  ),
  network_unavailable: text(
    'Cards cannot be charged just now. Nothing was charged; please try again in a minute.',
    'Não é possível cobrar cartões agora. Nada foi cobrado; tente de novo em um minuto.'
  ),
  amount_exceeds_refundable: text(
    'This is more than can be refunded. Nothing was refunded.',
    'O valor é maior que o saldo a devolver. Nada foi devolvido.'
  ),
  provider_rejected: text(
    'The card network refused the refund. Nothing was refunded.',
    'A rede do cartão recusou a devolução. Nada foi devolvido.'
  )
}

export function newOrder(id: string): Order {
  const nothing = { pending: null, payment: null, notice: null, refusedCard: null, source: null }
  return { id, status: 'open', attempts: 0, refunds: 0, ...nothing }
}

/** How a card is shown. */
export function cardOf({ brand, last4 }: { readonly brand: string; readonly last4: string }): string {
  return `${brand} •••• ${last4}`
}

/** The outcome is known: the page may stop polling. */
export function isSettled({ status, pending }: Order): boolean {
  return pending === null && status !== 'under_analysis' && status !== 'refunding'
}

/**
 * A new payment attempt with a new key, because the last one was refused. Null while its outcome is in doubt, and for the
 * card that the brand does not allow to be tried again (`may_retry` false).
 */
export function withPayment(
  order: Order,
  tokenId: string,
  card: string
): (Order & { readonly pending: MoneyRequest }) | null {
  if (order.status !== 'open' || order.pending !== null || card === order.refusedCard) return null
  const attempts = order.attempts + 1
  return {
    ...order,
    attempts,
    notice: null,
    status: 'under_analysis',
    pending: {
      kind: 'create',
      idempotencyKey: `${order.id}.pay.${attempts}`,
      body: {
        amount_cents: PRICE_CENTS,
        external_reference: order.id,
        statement_descriptor: 'SERRA COFFEE',
        payment_source: { source_type: 'token', token_id: tokenId },
        // In a real shop this is the buyer's account.
        customer: demoCustomer
      }
    }
  }
}

/** A refund of `amountCents`, or of all that is left. Null when there is nothing to refund just now. */
export function withRefund(
  order: Order,
  amountCents: number | null
): (Order & { readonly pending: MoneyRequest }) | null {
  if (order.payment === null || order.pending !== null) return null
  if (order.status !== 'paid' && order.status !== 'partially_refunded') return null
  const refunds = order.refunds + 1
  return {
    ...order,
    refunds,
    notice: null,
    status: 'refunding',
    pending: {
      kind: 'refund',
      paymentId: order.payment.id,
      idempotencyKey: `${order.id}.refund.${refunds}`,
      body: amountCents === null ? {} : { amount_cents: amountCents }
    }
  }
}

/** The order after an answer to its pending request, or to a query about its payment. */
export function afterAnswer(order: Order, answer: Answer, source: NonNullable<Order['source']>): Order {
  if (answer.kind === 'unclear') return order
  if (answer.kind === 'refused') return afterRefusal(order, answer, source)
  const { payment } = answer
  const status = statusOf(payment)
  const isUnderWay = status === 'under_analysis' || status === 'refunding'
  return {
    ...order,
    ...(payment.status === 'failed' && declined(payment, 'card_declined')),
    status,
    source,
    payment: status === 'open' ? null : payment,
    pending: isUnderWay ? order.pending : null
  }
}

/** The message for the buyer of a payment that failed, and whether the card may be tried again. */
function declined({ card, provider }: PaidPayment, code: string): Pick<Order, 'notice' | 'refusedCard'> {
  const { decline_reason: reason, may_retry: mayRetry } = provider
  const notice = (reason === null ? NOTICES[code] : declineTexts[reason]) ?? NOT_DONE
  return { notice, refusedCard: mayRetry === false ? cardOf(card) : null }
}

function afterRefusal(
  order: Order,
  { code, payment }: Answer & { readonly kind: 'refused' },
  source: NonNullable<Order['source']>
): Order {
  // Not charged, but held: another payment would hold the amount a second time.
  if (payment?.status === 'pre_authorized' && order.pending?.kind === 'create') return withCancel(order, payment)
  const current = payment ?? order.payment
  const status = current === null ? 'open' : statusOf(current)
  const told = payment?.status === 'failed' ? declined(payment, code) : { notice: NOTICES[code] ?? NOT_DONE }
  return { ...order, ...told, status, source, payment: status === 'open' ? null : current, pending: null }
}

/** Cancels a hold. Repeated with the same key until its outcome is known. */
function withCancel(order: Order, payment: PaidPayment): Order {
  return {
    ...order,
    payment,
    status: 'under_analysis',
    notice: NOT_CHARGED,
    pending: {
      kind: 'refund',
      paymentId: payment.id,
      idempotencyKey: `${order.id}.release.${order.attempts}`,
      body: {}
    }
  }
}

function statusOf({ status }: PaidPayment): OrderStatus {
  switch (status) {
    case 'captured':
      return 'paid'
    case 'failed':
    case 'canceled':
    case 'expired':
      return 'open'
    case 'refunding':
    case 'partially_refunded':
    case 'refunded':
      return status
    case 'charged_back':
      return 'disputed'
    default:
      // Also statuses that a later version of the API may add: never guess.
      return 'under_analysis'
  }
}
