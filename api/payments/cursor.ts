/**
 * The opaque cursor of a list: the id of the last payment of a page, the filters of the list, and a mark of its merchant.
 *
 * The mark is not a secret: with any cursor, a list has only payments of its own merchant. The mark turns another merchant's
 * cursor into a clear error instead of a wrong page.
 */
import { createHash } from 'node:crypto'
import { orderIdOf, paymentIdOf } from '../../machines/network.js'
import { isRecord, parseJson } from '../../runtime/json.js'

/** The last payment of a page, and the filters of its list. They are parsed like the parameters of a request. */
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

/** Reads a cursor; null when it is not one of this merchant. */
export function decodeCursor(merchantId: string, cursor: string): Cursor | null {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding ignores characters that are not base64url: accepts only the exact text that was generated.
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
