/** Reads fields of the acquirer's JSON as tolerantly as its documents require. Pure. */

export type WireObject = Readonly<Record<string, unknown>>

/** `Payment.Status` on the wire. 0 (not finished), 12 (pending), 20 (scheduled) and unknown numbers decide nothing. */
export const SaleStatus = {
  authorised: 1,
  captured: 2,
  denied: 3,
  voided: 10,
  refunded: 11,
  aborted: 13
} as const

/** Texts are stored with the payment. By the acquirer's documents none that is read here has more than 50 characters. */
const LENGTH_MAX = 100

/** A text that is not empty, without space around it, cut to a length that can be stored. Numbers count as texts: codes come as both. */
export function textIn(object: WireObject, field: string): string | null {
  const value = object[field]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, LENGTH_MAX) : null
}

/** A GUID, or an order id of ours: its letters are hex digits, which systems write as small letters or as capitals. */
export function idIn(object: WireObject, field: string): string | null {
  return textIn(object, field)?.toLowerCase() ?? null
}

/** A whole number from 0, also when it comes as a text. */
export function integerIn(object: WireObject, field: string): number | null {
  const text = textIn(object, field)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** Whether a field has a value, readable or not. */
export function hasValue(object: WireObject, field: string): boolean {
  return object[field] !== undefined && object[field] !== null && object[field] !== ''
}
