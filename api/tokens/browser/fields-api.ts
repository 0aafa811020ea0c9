/**
 * What `fields.js` gives to a page: `Service.fields({ publishableKey, element })` puts the card fields into `element`,
 * `Service.cvvField({ publishableKey, element })` the security code of a stored card; `await fields.tokenize()` returns a
 * one-use token. `npm run docs` makes types of the client (client/fields.d.ts) from this file and from `fields-values.ts`.
 */
import type { CvvToken, FieldsStyle, FieldsToken } from './fields-values.js'

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
