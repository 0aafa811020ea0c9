/**
 * Our authorisation in the words of the acquirer: the body of `POST /1/sales/`. Pure.
 *
 * The limits are those of the acquirer's field table. Longer texts are cut, letters become those of its alphabet, and what it
 * does not take (digits in a name) is removed: no payment should fail because of the spelling of a name or an address.
 */
import { CURRENCY } from '../../machines/model.js'
import type { AuthoriseRequest } from '../../machines/network.js'

const wireBrands: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Master',
  elo: 'Elo',
  amex: 'Amex',
  hipercard: 'Hipercard',
  hiper: 'Hiper',
  aura: 'Aura',
  diners: 'Diners',
  discover: 'Discover',
  jcb: 'JCB'
}

const NAME_MAX = 255
const HOLDER_MAX = 25
const DESCRIPTOR_MAX = 13
/** Replaces a name without any character that the acquirer takes, such as one in another script. */
const NAME_OF_NO_LETTERS = 'NAO INFORMADO'
const NO_NUMBER = 'S/N'

/** The JSON body of a sale, or `null` when the acquirer does not know the brand. */
export function saleBody(request: AuthoriseRequest): string | null {
  const brand = wireBrands[request.brand]
  if (brand === undefined) return null
  const descriptor = plainText(request.statementDescriptor ?? '', /[^A-Za-z0-9]+/g, DESCRIPTOR_MAX)
  return JSON.stringify({
    MerchantOrderId: request.orderId,
    Customer: customerOf(request),
    Payment: {
      Type: 'CreditCard',
      Amount: request.amountCents,
      Currency: CURRENCY,
      Country: 'BRA',
      Installments: request.installments,
      Interest: 'ByMerchant',
      Capture: request.capture,
      Authenticate: false,
      Recurrent: false,
      ...(descriptor === '' ? {} : { SoftDescriptor: descriptor }),
      // Mastercard must know that the buyer, being present, pays with a card on file.
      ...(request.isStoredCard && brand === 'Master'
        ? { InitiatedTransactionIndicator: { Category: 'C1', Subcategory: 'CredentialsOnFile' } }
        : {}),
      CreditCard: {
        CardNumber: request.card.number,
        Holder: plainName(request.card.holderName, HOLDER_MAX),
        ExpirationDate: `${request.card.expirationMonth}/${request.card.expirationYear}`,
        ...(request.card.cvv === null ? {} : { SecurityCode: request.card.cvv }),
        Brand: brand,
        SaveCard: false,
        ...(request.isStoredCard ? { CardOnFile: { Usage: 'Used' } } : {})
      }
    }
  })
}

/** Letters and single spaces only, without accents, at most `max` characters; never empty. */
function plainName(name: string, max: number): string {
  return plainText(name.replace(/[ªº]/g, ' '), /[^A-Za-z]+/g, max) || NAME_OF_NO_LETTERS
}

/** Letters, digits and the signs of addresses, without accents. */
function plainAddress(text: string, max: number): string {
  return plainText(text, /[^A-Za-z0-9 .,/'()-]+/g, max)
}

function plainText(text: string, unwanted: RegExp, max: number): string {
  return cut(latin(text).replace(unwanted, ' ').replace(/ +/g, ' ').trim(), max).trim()
}

/** Letters that no accent can be taken from. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D' },
  ...{
    ð: 'd',
    Ð: 'D',
    þ: 'th',
    Þ: 'Th',
    ħ: 'h',
    Ħ: 'H',
    ı: 'i',
    ŋ: 'n',
    Ŋ: 'N',
    ŧ: 't',
    Ŧ: 'T',
    ĸ: 'k',
    ʼ: "'",
    '’': "'"
  }
}

/** In the letters of ASCII where there is one: accents are taken off, and forms such as full width (Ａ) or ligatures (ﬁ) resolved. */
function latin(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text
  const apart = text.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return apart.replace(/[^\0-\x7f]/g, letter => LETTERS[letter] ?? letter)
}

/** The first `max` characters. By code points: half of a pair of surrogates is no text. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}

function customerOf({ buyer }: AuthoriseRequest): object {
  const { address } = buyer
  const complement = plainAddress(address.complement ?? '', 50)
  return {
    Name: plainName(buyer.name, NAME_MAX),
    Identity: buyer.document,
    IdentityType: buyer.document.length === 11 ? 'CPF' : 'CNPJ',
    Email: buyer.email,
    Address: {
      Street: plainAddress(address.street, 255) || NAME_OF_NO_LETTERS,
      Number: plainAddress(address.number, 15) || NO_NUMBER,
      ...(complement === '' ? {} : { Complement: complement }),
      ZipCode: address.zipCode,
      District: plainAddress(address.district, 50) || NAME_OF_NO_LETTERS,
      City: plainAddress(address.city, 50) || NAME_OF_NO_LETTERS,
      State: address.state,
      Country: 'BRA'
    }
  }
}
