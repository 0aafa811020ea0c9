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

/** A text that is not empty; numbers count as texts (codes come as both). */
export function textIn(object: WireObject, field: string): string | null {
  const value = object[field]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
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
