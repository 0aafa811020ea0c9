/** The field of a create that is at fault when the card network rejected its sale as such. */
import type { FieldProblem } from '../../contract/errors.js'

/** By the acquirer's code. Others are not about the request: the operator knows. */
export const rejectedFields: Readonly<Record<string, string>> = {
  '105': 'customer.name',
  '108': 'amount_cents',
  '117': 'payment_source',
  '118': 'payment_source',
  '123': 'installments',
  '125': 'payment_source',
  '126': 'payment_source',
  '127': 'payment_source',
  '128': 'payment_source',
  '146': 'payment_source',
  '154': 'customer.address',
  '155': 'customer.name',
  '156': 'customer.document',
  '157': 'customer.document',
  '158': 'customer.email',
  '177': 'payment_source',
  '185': 'payment_source',
  '186': 'installments',
  '213': 'payment_source',
  '214': 'payment_source'
}

/** For the error of a create. */
export function rejectedFieldsOf(code: string): readonly FieldProblem[] {
  const path = rejectedFields[code]
  return path === undefined ? [] : [{ path, message: `was rejected by the card network with the code ${code}` }]
}
