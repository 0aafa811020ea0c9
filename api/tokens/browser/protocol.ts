/**
 * The messages between the merchant's page and the frame. The first one uses `postMessage` with the frame's origin as its
 * target, and transfers one end of a MessageChannel. All others use that channel, which no other frame or script can reach.
 * No message contains what a buyer typed.
 */
import { isRecord } from '../../../runtime/json.js'
import type { CvvToken, FieldsError, FieldsToken } from './fields-values.js'

/** Page to frame, once. */
export interface Connect {
  readonly type: 'service.fields.connect'
  readonly publishableKey: string
  readonly locale: string
  readonly style: Readonly<Record<string, string>>
  /** The security code of a stored card of this brand ('': unknown) is asked for, not a card; absent: a card is. */
  readonly cvvOf?: string
}

/** Page to frame, through the channel. */
export type Order = { readonly type: 'tokenize'; readonly request: number } | { readonly type: 'focus' }

/** A `FieldsError` on its way to the page. */
export type Refusal = Pick<FieldsError, 'code' | 'message' | 'fields'>

/** Frame to page, through the channel. */
export type Report<Token = FieldsToken | CvvToken> =
  | { readonly type: 'ready' }
  | { readonly type: 'key_refused'; readonly code: string }
  | { readonly type: 'height'; readonly px: number }
  | { readonly type: 'change'; readonly brand: string | null; readonly isComplete: boolean }
  | { readonly type: 'submit' }
  | { readonly type: 'token'; readonly request: number; readonly token: Token }
  | { readonly type: 'refusal'; readonly request: number; readonly refusal: Refusal }

export const CONNECT = 'service.fields.connect'

/** The first message, or `null` for any other that a page may send to the frame. */
export function readConnect(data: unknown): Connect | null {
  if (!isRecord(data) || data['type'] !== CONNECT) return null
  const { publishableKey, locale, style, cvvOf } = data
  if (typeof publishableKey !== 'string' || typeof locale !== 'string' || !isRecord(style)) return null
  const strings = Object.entries(style).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  const kind = typeof cvvOf === 'string' ? { cvvOf } : {}
  return { type: CONNECT, publishableKey, locale, style: Object.fromEntries(strings), ...kind }
}

/** An order of the page, or `null`. */
export function readOrder(data: unknown): Order | null {
  if (!isRecord(data)) return null
  if (data['type'] === 'focus') return { type: 'focus' }
  if (data['type'] !== 'tokenize' || typeof data['request'] !== 'number') return null
  return { type: 'tokenize', request: data['request'] }
}
