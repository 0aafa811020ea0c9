/** All texts of the fields for buyers, in both languages. */
import type { FieldName, ProblemCode } from './card-rules.js'

export const LOCALES = ['en', 'pt-BR'] as const
export type Locale = (typeof LOCALES)[number]

/** Why there is no token, although the card may be valid. */
export type TokenizeFailure = 'unavailable' | 'offline' | 'rate_limited' | 'refused' | 'invalid_card' | 'busy'

export interface Texts {
  readonly frameTitle: string
  readonly labels: Readonly<Record<FieldName, string>>
  readonly expiryHint: string
  readonly cvvHint: (...digits: readonly number[]) => string
  readonly testHint: string
  readonly problems: Readonly<Record<ProblemCode, string>>
  readonly failures: Readonly<Record<TokenizeFailure, string>>
}

const en: Texts = {
  frameTitle: 'Card details',
  labels: { number: 'Card number', expiry: 'Expiry', cvv: 'Security code', name: 'Name on card' },
  expiryHint: 'MM / YY',
  cvvHint: (...digits) => `${digits.join(' or ')} digits`,
  testHint: 'Test environment: published test cards only, nothing is charged.',
  problems: {
    number_missing: 'Enter the card number.',
    number_incomplete: 'The card number is too short.',
    number_wrong: 'This card number has a typing mistake.',
    brand_unknown: 'Cards of this brand are not accepted.',
    not_a_test_card: 'Only published test cards work here.',
    expiry_missing: 'Enter the expiry date.',
    expiry_wrong: 'Write month and year, like 07 / 31.',
    month_wrong: 'There is no such month.',
    expired: 'This card has expired.',
    cvv_missing: 'Enter the security code.',
    cvv_needs_3: 'The security code has 3 digits, on the back of the card.',
    cvv_needs_4: 'The security code has 4 digits, on the front of the card.',
    cvv_needs_3_or_4: 'The security code has 3 digits, on the back of the card; Amex has 4 on the front.',
    name_missing: 'Enter the name as it stands on the card.',
    name_wrong: 'This looks like a number, not a name.'
  },
  failures: {
    unavailable: 'The card fields could not be loaded. Nothing was charged. Please reload the page.',
    offline: 'The connection was lost. Nothing was charged. Please try again.',
    rate_limited: 'Too many attempts. Please wait a moment and try again.',
    refused: 'The card details could not be sent. Nothing was charged. Please try again later.',
    invalid_card: 'Please check the marked card details.',
    busy: 'The card details are being sent. Please wait a moment.'
  }
}

const pt: Texts = {
  frameTitle: 'Dados do cartão',
  labels: { number: 'Número do cartão', expiry: 'Validade', cvv: 'Código de segurança', name: 'Nome no cartão' },
  expiryHint: 'MM / AA',
  cvvHint: (...digits) => `${digits.join(' ou ')} dígitos`,
  testHint: 'Ambiente de teste: apenas cartões de teste publicados, nada é cobrado.',
  problems: {
    number_missing: 'Digite o número do cartão.',
    number_incomplete: 'O número do cartão está curto demais.',
    number_wrong: 'Há um erro de digitação no número.',
    brand_unknown: 'Esta bandeira não é aceita.',
    not_a_test_card: 'Aqui só funcionam cartões de teste publicados.',
    expiry_missing: 'Digite a validade.',
    expiry_wrong: 'Escreva mês e ano, como 07 / 31.',
    month_wrong: 'Mês inválido.',
    expired: 'Este cartão está vencido.',
    cvv_missing: 'Digite o código de segurança.',
    cvv_needs_3: 'O código tem 3 dígitos, no verso do cartão.',
    cvv_needs_4: 'O código tem 4 dígitos, na frente do cartão.',
    cvv_needs_3_or_4: 'O código tem 3 dígitos, no verso do cartão; no Amex são 4, na frente.',
    name_missing: 'Digite o nome como está no cartão.',
    name_wrong: 'Isto parece um número, não um nome.'
  },
  failures: {
    unavailable: 'Não foi possível carregar os campos do cartão. Nada foi cobrado. Recarregue a página.',
    offline: 'A conexão caiu. Nada foi cobrado. Tente de novo.',
    rate_limited: 'Muitas tentativas. Espere um momento e tente de novo.',
    refused: 'Não foi possível enviar os dados. Nada foi cobrado. Tente mais tarde.',
    invalid_card: 'Confira os dados marcados do cartão.',
    busy: 'Os dados do cartão estão sendo enviados. Espere um momento.'
  }
}

export const texts: Readonly<Record<Locale, Texts>> = { en, 'pt-BR': pt }

/** The language for a tag such as `pt`, `pt-PT` or `en-GB`: Portuguese, or English for every other tag. */
export function localeFor(tag: string): Locale {
  return /^pt\b/i.test(tag) ? 'pt-BR' : 'en'
}
