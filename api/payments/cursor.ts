/**
 * The opaque cursor of a list: the id of the last payment of a page, the filters of the list, and a mark of the merchant
 * that it belongs to.
 *
 * The mark is no secret: a list shows only its own merchant's payments, for any cursor. It turns another merchant's
 * cursor into a clear error instead of a wrong page.
 */
import { createHash } from 'node:crypto'
import { orderIdOf, paymentIdOf } from '../../machines/network.js'
import { isRecord, parseJson } from '../../runtime/json.js'

/** Where a list goes on, and the parameters that chose its payments. They are parsed like those of a request. */
export interface Cursor {
  readonly afterId: string
  readonly parameters: Readonly<Record<string, unknown>>
}

const ID_BYTES = 16
const MARK_BYTES = 8

export function encodeCursor(merchantId: string, { afterId, parameters }: Cursor): string {
  const id = Buffer.from(orderIdOf(afterId), 'hex')
  const text = JSON.stringify(parameters)
  const content = text === '{}' ? id : Buffer.concat([id, Buffer.from(text)])
  return Buffer.concat([content, markOf(merchantId, content)]).toString('base64url')
}

/** Reads a cursor; null when the text is none of this merchant. */
export function decodeCursor(merchantId: string, cursor: string): Cursor | null {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding ignores what is not base64url; only the text that was given out is accepted.
  if (bytes.length < ID_BYTES + MARK_BYTES || bytes.toString('base64url') !== cursor) return null
  const content = bytes.subarray(0, -MARK_BYTES)
  if (!bytes.subarray(-MARK_BYTES).equals(markOf(merchantId, content))) return null
  const afterId = paymentIdOf(content.subarray(0, ID_BYTES).toString('hex'))
  const parameters = parseJson(content.subarray(ID_BYTES).toString() || '{}')
  return afterId === null || !isRecord(parameters) ? null : { afterId, parameters }
}

function markOf(merchantId: string, content: Buffer): Buffer {
  return createHash('sha256').update(`cursor\n${merchantId}\n`).update(content).digest().subarray(0, MARK_BYTES)
}
