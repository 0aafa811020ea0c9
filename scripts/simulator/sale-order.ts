/** The body of `POST /1/sales/`, checked as the acquirer checks it: all problems at once, in its own codes. */
import { isRecord, parseJson } from '../../runtime/json.js'

/** A well-formed sale. Amounts are cents. */
export interface SaleOrder {
  readonly merchantOrderId: string
  readonly amount: number
  readonly installments: number
  readonly capture: boolean
  readonly softDescriptor: string | null
  readonly customerName: string | null
  readonly cardNumber: string
  readonly holder: string
  readonly expirationDate: string
  readonly brand: string
}

/** One entry of the acquirer's error array. */
export interface WireError {
  readonly Code: number
  readonly Message: string
}

const BRANDS = ['Visa', 'Master', 'Amex', 'Elo', 'Aura', 'JCB', 'Diners', 'Discover', 'Hipercard']

/** Reads a sale, or returns everything that is wrong with it. */
export function readSaleOrder(text: string): { order: SaleOrder } | { errors: readonly WireError[] } {
  const body = parseJson(text)
  if (!isRecord(body)) return { errors: [{ Code: 184, Message: 'Request could not be empty' }] }
  const payment = objectIn(body, 'Payment')
  if (payment === null) return { errors: [{ Code: 119, Message: 'At least one Payment is required' }] }
  const card = objectIn(payment, 'CreditCard')
  if (card === null) return { errors: [{ Code: 124, Message: 'Credit Card is Required' }] }

  const order: SaleOrder = {
    merchantOrderId: stringIn(body, 'MerchantOrderId'),
    amount: wholeNumberIn(payment, 'Amount'),
    installments: wholeNumberIn(payment, 'Installments'),
    capture: payment['Capture'] === true,
    softDescriptor: stringIn(payment, 'SoftDescriptor') || null,
    customerName: stringIn(objectIn(body, 'Customer') ?? {}, 'Name') || null,
    cardNumber: stringIn(card, 'CardNumber'),
    holder: stringIn(card, 'Holder'),
    expirationDate: stringIn(card, 'ExpirationDate'),
    brand: stringIn(card, 'Brand')
  }
  const errors = [...paymentErrors(order, stringIn(payment, 'Type')), ...cardErrors(order, card['SecurityCode'])]
  return errors.length > 0 ? { errors } : { order }
}

function paymentErrors(order: SaleOrder, type: string): readonly WireError[] {
  return broken([
    [order.merchantOrderId !== '', 122, 'MerchantOrderId is required'],
    [/^[A-Za-z0-9]{0,50}$/.test(order.merchantOrderId), 107, 'OrderId is invalid or does not exists'],
    [type === 'CreditCard', 102, 'Payment Type is required'],
    [order.amount >= 1, 108, 'Amount must be greater or equal to zero'],
    [order.installments >= 1, 123, 'Installments must be greater or equal to one'],
    [(order.softDescriptor?.length ?? 0) <= 13, 0, 'Internal error']
  ])
}

function cardErrors(order: SaleOrder, securityCode: unknown): readonly WireError[] {
  return broken([
    [order.cardNumber !== '', 118, 'Credit Card Number is required'],
    [order.cardNumber === '' || /^\d{12,}$/.test(order.cardNumber), 213, 'Credit Card Number is invalid'],
    [order.cardNumber.length <= 19, 128, 'Card Number length exceeded'],
    [order.holder !== '', 117, 'Credit Card Holder is required'],
    [/^[A-Za-z ]{0,25}$/.test(order.holder), 214, 'Credit Card Holder Must Have Only Letters'],
    [order.expirationDate !== '', 125, 'Credit Card Expiration Date is required'],
    [/^((0[1-9]|1[0-2])\/\d{4})?$/.test(order.expirationDate), 126, 'Credit Card Expiration Date is invalid'],
    [typeof securityCode !== 'string' || securityCode.length <= 4, 146, 'SecurityCode length exceeded'],
    [order.brand !== '', 182, 'Brand is required'],
    [order.brand === '' || BRANDS.includes(order.brand), 185, 'Brand is not supported by selected provider']
  ])
}

function broken(rules: readonly (readonly [holds: boolean, code: number, message: string])[]): readonly WireError[] {
  return rules.filter(([holds]) => !holds).map(([, Code, Message]) => ({ Code, Message }))
}

function objectIn(object: Readonly<Record<string, unknown>>, field: string) {
  const value = object[field]
  return isRecord(value) ? value : null
}

function stringIn(object: Readonly<Record<string, unknown>>, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function wholeNumberIn(object: Readonly<Record<string, unknown>>, field: string): number {
  const value = object[field]
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}
