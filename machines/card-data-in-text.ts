/**
 * Finds card data in texts that merchants write freely. Such texts are stored and shown, so they are refused (decision 22).
 *
 * A number is taken for a card number when brand, length and check digit fit. Digits beside a hexadecimal digit belong
 * to an id, such as a hash; a CNPJ and the access key of an invoice (NF-e) are no card numbers either.
 */
import { brandOf, isLuhnValid, lengthsOf } from './card-brands.js'
import { hasCnpjCheckDigits } from './cnpj.js'

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi
/** With a letter; one of digits only is recognised where it is found. */
const CNPJ = /(?<![\da-z])[\dA-Z]{12}\d\d(?![\da-z])/gi
/** They take no room: a reader, and a copy into another system, sees one number. */
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/g
/** More groups of four digits than a card number has: 44 digits of an NF-e, for example. */
const LONG_ROW = /(?<![\da-f])\d{4}(?:[\s._/-]{1,2}\d{4}){5,}(?!\d)/gi
/** In one piece, or in the groups that are printed on cards: 4-4-4-n, 4-4-4-4-n and 4-6-n. */
const written = [
  /(?<![\da-f])(\d{13,19})(?![\da-f])/gi,
  /(?<![\da-f])(?=(\d{4}[\s._/-]{1,2}\d{4}[\s._/-]{1,2}\d{4}[\s._/-]{1,2}\d{1,4})(?![\da-f]))/gi,
  /(?<![\da-f])(?=(\d{4}[\s._/-]{1,2}\d{4}[\s._/-]{1,2}\d{4}[\s._/-]{1,2}\d{4}[\s._/-]{1,2}\d{1,3})(?![\da-f]))/gi,
  /(?<![\da-f])(?=(\d{4}[\s._/-]{1,2}\d{6}[\s._/-]{1,2}\d{4,5})(?![\da-f]))/gi
]

/** As many digits as the shortest card number has. */
const DIGITS = /(?:\d\D*){13}/

/** Whether a text has a card number in it. */
export function holdsCardNumber(text: string): boolean {
  // Most texts end here: each form below would walk through the whole text.
  if (text.length < 13 || !DIGITS.test(text)) return false
  const rest = text
    .replace(UNSEEN, '')
    .replace(UUID, ' ')
    .replace(CNPJ, found => (hasCnpjCheckDigits(found) ? ' ' : found))
    .replace(LONG_ROW, ' ')
  return written.some(form => [...rest.matchAll(form)].some(([, found = '']) => isCardNumber(found)))
}

/** A security code under its name. */
const SECURITY_CODE = /\b(?:cvv2?|cvc2?|csc|security_?code)["']?\s{0,3}[:=]\s{0,3}["']?\d{3,4}(?!\d)/i
const CARD_LABEL = /\b(?:card|pan|cc|cart[aã]o)\w{0,10}["']?\s{0,3}[:=]/i

/** Whether a text has a card number, or a security code that it names, in it. */
export function holdsCardData(text: string): boolean {
  return SECURITY_CODE.test(text) || holdsCardNumber(text)
}

/** Whether a text that may have long numbers in it, such as an order id, is card data: alone, or under its name. */
export function isCardData(text: string): boolean {
  return isCardNumber(text) || SECURITY_CODE.test(text) || (CARD_LABEL.test(text) && holdsCardNumber(text))
}

/** Whether a text is a card number: digits, with separators between them, and nothing else. */
export function isCardNumber(text: string): boolean {
  const digits = text.replace(UNSEEN, '').replace(/[\s._/-]/g, '')
  const brand = isLuhnValid(digits) ? brandOf(digits) : null
  return brand !== null && lengthsOf(brand).includes(digits.length) && !hasCnpjCheckDigits(digits)
}

const cardDataNames = new Set([
  ...['cvv', 'cvv2', 'cvc', 'cvc2', 'csc', 'cav2', 'cid2', 'cardcvv', 'cardcvc', 'securitycode', 'cardsecuritycode'],
  ...['cvvcode', 'cvv2code', 'cvccode', 'cvc2code', 'seccode', 'cvvnumber', 'cvcnumber', 'cardcode'],
  ...['pan', 'cardpan', 'primaryaccountnumber', 'cardnumber', 'cardno', 'ccnumber', 'ccnum', 'creditcardnumber'],
  ...['codigodeseguranca', 'codigoseguranca', 'numerodocartao', 'numerocartao', 'track1', 'track2', 'trackdata']
])

/** Whether a key says that its value is a card number, a security code or the data of a magnetic stripe. */
export function namesCardData(key: string): boolean {
  const plain = key.normalize('NFD').replace(/[^\p{L}\p{Nd}]/gu, '')
  return cardDataNames.has(plain.toLowerCase())
}
