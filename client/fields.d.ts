/** Made by `npm run docs` from api/tokens/browser/fields-api.ts and api/tokens/browser/fields-values.ts. */
export interface FieldsOptions {
  /** `svc_test.<key id>` or `svc_live.<key id>`. Never a secret key. */
  readonly publishableKey: string
  /** An element of the page, or a selector of one; the fields replace what is in it. */
  readonly element: HTMLElement | string
  /** The language of the page when absent. */
  readonly locale?: 'en' | 'pt-BR'
  readonly style?: FieldsStyle
  /** Called while the buyer types. */
  readonly onChange?: (state: { readonly brand: string | null; readonly isComplete: boolean }) => void
}

export interface Fields {
  /** Resolves when the fields can be used; rejects with a `FieldsError`. */
  readonly ready: Promise<void>
  /** Checks the fields and gives a token for one payment; rejects with a `FieldsError`. */
  tokenize(): Promise<FieldsToken>
  focus(): void
  /** Takes the fields out of the page. */
  destroy(): void
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

/** Why there is no token: a code for the program, a sentence for the buyer, and the fields that are marked in the frame. */
export interface FieldsError extends Error {
  readonly code: string
  readonly fields: readonly { readonly path: string; readonly message: string }[]
}

declare global {
  const Service: { fields(options: FieldsOptions): Fields }
}
