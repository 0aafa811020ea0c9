/** Values that the page and the fields exchange. Needs no types of browsers. */

/** Looks that a page may choose. */
export interface FieldsStyle {
  /** Colours: `#rgb` or `#rrggbb`. */
  readonly colorText?: string
  readonly colorLabel?: string
  readonly colorBackground?: string
  readonly colorBorder?: string
  readonly colorFocus?: string
  readonly colorError?: string
  readonly colorPlaceholder?: string
  readonly fontFamily?: 'system-ui' | 'sans-serif' | 'serif' | 'monospace'
  /** `14px` to `24px`. */
  readonly fontSize?: string
  /** Lengths: `8px`, `0.5rem`. */
  readonly borderRadius?: string
  readonly gap?: string
}

/** A one-use token, as `POST /v1/tokens` answers. */
export interface FieldsToken {
  readonly token_id: string
  readonly brand: string
  readonly last4: string
  /** ISO 8601 in UTC. */
  readonly expires_at: string
}

/** A one-use token of the security code of a stored card: the `cvv_token_id` of a payment. */
export type CvvToken = Pick<FieldsToken, 'token_id' | 'expires_at'>

/** Why there is no token: a code for the program, a sentence for the buyer, and the fields that are marked in the frame. */
export interface FieldsError extends Error {
  readonly code: string
  readonly fields: readonly { readonly path: string; readonly message: string }[]
}
