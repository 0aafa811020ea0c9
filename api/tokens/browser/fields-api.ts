/**
 * What `fields.js` gives to a page: `Service.fields({ publishableKey, element })` puts the card fields into `element`,
 * `await fields.tokenize()` returns a one-use token. `npm run docs` makes types of the client (client/fields.d.ts) from this file
 * and from `fields-values.ts`.
 */
import type { FieldsStyle, FieldsToken } from './fields-values.js'

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
