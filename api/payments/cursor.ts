/**
 * The opaque cursor of a list: the id of the last payment of a page, and a mark of the merchant that it belongs to.
 *
 * The mark is no secret: a list shows only its own merchant's payments, for any cursor. It turns another merchant's
 * cursor into a clear error instead of a wrong page.
 */
import { createHash } from 'node:crypto'
import { orderIdOf, paymentIdOf } from '../../machines/network.js'

const ID_BYTES = 16
const MARK_BYTES = 8

export function encodeCursor(merchantId: string, paymentId: string): string {
  const id = Buffer.from(orderIdOf(paymentId), 'hex')
  return Buffer.concat([id, markOf(merchantId, id)]).toString('base64url')
}

/** The payment id to go on from; null when the text is no cursor of this merchant. */
export function decodeCursor(merchantId: string, cursor: string): string | null {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding ignores what is not base64url; only the text that was given out is accepted.
  if (bytes.length !== ID_BYTES + MARK_BYTES || bytes.toString('base64url') !== cursor) return null
  const id = bytes.subarray(0, ID_BYTES)
  if (!bytes.subarray(ID_BYTES).equals(markOf(merchantId, id))) return null
  return paymentIdOf(id.toString('hex'))
}

function markOf(merchantId: string, id: Buffer): Buffer {
  return createHash('sha256').update(`cursor\n${merchantId}\n`).update(id).digest().subarray(0, MARK_BYTES)
}
