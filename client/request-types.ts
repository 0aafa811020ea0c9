/** Made by `npm run docs` from the schemas of requests and answers (docs/openapi.json). */

import type { PaymentStatus } from './answer-types.js'

export interface PaymentSourceToken {
  /** a card that was just typed, or one that you have stored; must be "token" (with token_id) or "card" (with card_id) */
  readonly source_type: 'token'
  /** from the hosted fields, or from POST /v1/tokens; it pays once; must be the one-use token from the browser */
  readonly token_id: string
}

export interface PaymentSourceCard {
  /** a card that was just typed, or one that you have stored; must be "token" (with token_id) or "card" (with card_id) */
  readonly source_type: 'card'
  /** from POST /v1/cards; must be the card_id of a stored card */
  readonly card_id: string
  /** the code that the buyer typed again; it is never stored; must be the security code of 3 or 4 digits, digits only, or null */
  readonly cvv?: string | null
  /** in place of `cvv`: a token of the code that the buyer typed again, from the field for it (HOSTED_FIELDS.md); it serves one payment; must be the one-use token of a security code, or null */
  readonly cvv_token_id?: string | null
}

export type PaymentSource = PaymentSourceToken | PaymentSourceCard

export interface Address {
  /** postal code; must be a postal code of 8 digits, digits only */
  readonly zip_code: string
  /** street; must be text of 1 to 120 characters, not blank, without control characters or a card number */
  readonly street: string
  /** number of the house; must be text of 1 to 10 characters, not blank, without control characters or a card number */
  readonly number: string
  /** flat, floor, block; must be text of at most 60 characters without control characters or a card number, or null */
  readonly complement?: string | null
  /** district; must be text of 1 to 60 characters, not blank, without control characters or a card number */
  readonly district: string
  /** city; must be text of 1 to 60 characters, not blank, without control characters or a card number */
  readonly city: string
  /** state; must be the two-letter abbreviation of a Brazilian state, such as SP */
  readonly state:
    | 'AC'
    | 'AL'
    | 'AM'
    | 'AP'
    | 'BA'
    | 'CE'
    | 'DF'
    | 'ES'
    | 'GO'
    | 'MA'
    | 'MG'
    | 'MS'
    | 'MT'
    | 'PA'
    | 'PB'
    | 'PE'
    | 'PI'
    | 'PR'
    | 'RJ'
    | 'RN'
    | 'RO'
    | 'RR'
    | 'RS'
    | 'SC'
    | 'SE'
    | 'SP'
    | 'TO'
}

export interface Customer {
  /** name; must be text of 1 to 120 characters, not blank, without control characters or a card number */
  readonly name: string
  /** e-mail address; must be a valid e-mail address of at most 120 characters without a card number */
  readonly email: string
  /** tax number. The rule is that of installations without `cnpj_with_letters` (GET /v1/capabilities); with it, the first 12 characters of a CNPJ may be capital letters too; must be a CPF (11 digits) or CNPJ (14 digits) with valid check digits, digits only */
  readonly document: string
  /** telephone number; must be area code and number, 10 to 11 digits without the +55 of Brazil, digits only */
  readonly phone: string
  readonly address: Address
}

export interface CreatePaymentRequest {
  /** what the buyer pays; must be a whole number of cents from 1 to 999999999999 */
  readonly amount_cents: number
  /** the currency of the amount; must be "BRL", or null; by default BRL */
  readonly currency?: 'BRL' | null
  /** in how many parts the buyer pays; must be a whole number from 1 to 18, or null; by default 1 */
  readonly installments?: number | null
  /** true: authorise and capture; false: authorise only, and capture later; must be true or false, or null; by default true */
  readonly capture?: boolean | null
  /** text on the buyer's statement; must be text of at most 22 characters without control characters or a card number, or null */
  readonly statement_descriptor?: string | null
  /** your order id; it need not be unique, and is compared character by character: é in one (NFC) and in two (NFD) are two ids. Put a letter before ids of 13 to 19 digits: some of them look like card numbers; must be text of 1 to 64 characters, not blank, without control characters, and not just a card number */
  readonly external_reference: string
  readonly payment_source: PaymentSource
  readonly customer: Customer
  /** your own data, returned when you read the payment; must be an object with at most 20 pairs, or null */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | null
}

export interface CapturePaymentRequest {
  /** what to capture; absent: the whole authorised amount; must be a whole number of cents from 1 to 999999999999 */
  readonly amount_cents?: number
}

export interface CancelPaymentRequest {
  /** what to refund; absent: everything that is left. A pre-authorisation is cancelled as a whole only; must be a whole number of cents from 1 to 999999999999 */
  readonly amount_cents?: number
}

export interface StoreCardRequest {
  /** from the hosted fields, or from POST /v1/tokens; it is used up; must be the one-use token from the browser */
  readonly token_id: string
}

export interface RegisterWebhookEndpointRequest {
  /** where webhooks are posted; must be an https URL of at most 2048 characters, without user name, password, fragment, white space or backslash, whose host name has at most 253 characters and 1 to 63 between its dots */
  readonly url: string
  /** true: a new signing secret, although the URL stays the same; must be true or false, or null; by default false */
  readonly rotate_secret?: boolean | null
}

export interface CreateTokenRequest {
  /** the card number; 12 to 19 digits without spaces, with a valid check digit */
  readonly card_number?: string
  /** the name on the card; 1 to 120 characters, with fewer than 12 digits, because 12 may be a card number */
  readonly holder_name?: string
  /** month of expiry; `01` to `12` */
  readonly expiration_month?: string
  /** year of expiry; four digits, not in the past */
  readonly expiration_year?: string
  /** the security code; never written to a disk; 3 or 4 digits */
  readonly cvv: string
}

export interface ListPaymentsQuery {
  /** only payments with this status; must be one of pending, pre_authorized, capturing, captured, cancelling, canceled, refunding, partially_refunded, refunded, charged_back, expired, failed, unknown */
  readonly status?: PaymentStatus
  /** only payments with this order id; must be text of 1 to 64 characters, not blank, without control characters, and not just a card number */
  readonly external_reference?: string
  /** only payments with a `created_at` of this time or later; must be a time with its zone, such as 2026-01-02T12:00:00Z or 2026-01-02T12:00:00-03:00; ISO 8601 in UTC */
  readonly created_from?: string
  /** only payments with a `created_at` before this time; must be a time with its zone, such as 2026-01-02T12:00:00Z or 2026-01-02T12:00:00-03:00; ISO 8601 in UTC */
  readonly created_to?: string
  /** how many payments a page has; must be a whole number from 1 to 100; by default 20 */
  readonly limit?: number
  /** where to go on; it keeps the filters of its page, unless you send others; must be the next_cursor of a previous page of the same merchant */
  readonly cursor?: string
}
