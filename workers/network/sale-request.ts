/**
 * Our authorisation in the words of the acquirer: the body of `POST /1/sales/`. Pure.
 *
 * The limits are those of the acquirer's field table. Longer texts are cut, and characters that it does not take (accents,
 * digits in a name) are removed: no payment should fail because of the spelling of a name.
 */
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
      Currency: 'BRL',
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
  return plainText(name, /[^A-Za-z]+/g, max) || NAME_OF_NO_LETTERS
}

function plainText(text: string, unwanted: RegExp, max: number): string {
  const withoutAccents = text.normalize('NFD').replace(/\p{Mark}/gu, '')
  return cut(withoutAccents.replace(unwanted, ' ').trim(), max).trim()
}

/** The first `max` characters. By code points: half of a pair of surrogates is no text. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}

function customerOf({ buyer }: AuthoriseRequest): object {
  const { address } = buyer
  return {
    Name: plainName(buyer.name, NAME_MAX),
    Identity: buyer.document,
    IdentityType: buyer.document.length === 11 ? 'CPF' : 'CNPJ',
    Email: buyer.email,
    Address: {
      Street: cut(address.street, 255),
      Number: cut(address.number, 15),
      ...(address.complement === null ? {} : { Complement: cut(address.complement, 50) }),
      ZipCode: address.zipCode,
      District: cut(address.district, 50),
      City: cut(address.city, 50),
      State: address.state,
      Country: 'BRA'
    }
  }
}
