/** Made by `npm run docs` from api/tokens/browser/fields-api.ts and api/tokens/browser/fields-values.ts. */
export interface CommonOptions {
  /** `svc_test.<key id>` or `svc_live.<key id>`. Never a secret key. */
  readonly publishableKey: string
  /** An element of the page, or a selector of one; the fields replace what is in it. */
  readonly element: HTMLElement | string
  /** The language of the page when absent. */
  readonly locale?: 'en' | 'pt-BR'
  readonly style?: FieldsStyle
}

export interface FieldsOptions extends CommonOptions {
  /** Called while the buyer types. */
  readonly onChange?: (state: { readonly brand: string | null; readonly isComplete: boolean }) => void
}

export interface CvvFieldOptions extends CommonOptions {
  /** The brand of the stored card, as the API answers it: it decides between 3 and 4 digits. */
  readonly brand?: string
  /** Called while the buyer types. */
  readonly onChange?: (state: { readonly isComplete: boolean }) => void
}

export interface Fields<Token = FieldsToken> {
  /** Resolves when the fields can be used; rejects with a `FieldsError`. */
  readonly ready: Promise<void>
  /** Checks the fields and gives a token for one payment; rejects with a `FieldsError`. */
  tokenize(): Promise<Token>
  focus(): void
  /** Takes the fields out of the page. */
  destroy(): void
}

/** The global `Service` of the script. */
export interface CardService {
  fields(options: FieldsOptions): Fields
  cvvField(options: CvvFieldOptions): Fields<CvvToken>
}

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

declare global {
  const Service: CardService
}
