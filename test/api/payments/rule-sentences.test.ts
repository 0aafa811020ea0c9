import { expect } from 'chai'
import { aCreateBody, aPayment, capturedProgress, withField } from '../builders.js'
import { type RunningApi, useApi } from '../running-api.js'

const CARD = '4111 1111 1111 1111'

/** Field, value, and the sentence that a merchant reads. */
const sentences: readonly (readonly [path: string, value: unknown, message: string])[] = [
  ['amount_cents', '1990', 'must be a whole number, without quotes'],
  ['amount_cents', 19.9, 'must be a whole number'],
  ['amount_cents', 0, 'must be at least 1'],
  ['amount_cents', 1e12, 'must be at most 999999999999'],
  ['amount_cents', null, 'must be a whole number, without quotes, not null'],
  ['currency', 'USD', 'must be "BRL", or null'],
  ['installments', 19, 'must be at most 18'],
  ['installments', '2', 'must be a whole number, without quotes'],
  ['capture', 'true', 'must be true or false, without quotes'],
  ['statement_descriptor', 'x'.repeat(23), 'must have at most 22 characters'],
  ['statement_descriptor', 'A\nB', 'must not contain control characters'],
  ['external_reference', '', 'must not be empty'],
  ['external_reference', ' ', 'must not be blank'],
  ['external_reference', 7, 'must be a string, in quotes'],
  [
    'external_reference',
    '4111111111111111',
    'must not be just a number that looks like a card number: put a letter before it'
  ],
  ['customer.name', 'x'.repeat(121), 'must have at most 120 characters'],
  [
    'customer.name',
    CARD,
    'must not contain a card number, or a number that looks like one: put a letter directly before it'
  ],
  ['customer.name', 'a\u0007', 'must not contain control characters'],
  ['customer.name', 'a\ud83d', 'must not contain halves of characters (lone surrogates), U+2028 and U+2029'],
  ['metadata.note', 'a\n\u2028', 'must not contain halves of characters (lone surrogates), U+2028 and U+2029'],
  ['customer.email', 'ada', 'must be a valid e-mail address, such as ada@example.com'],
  ['customer.phone', 11_987_654_321, 'must be a string, in quotes'],
  [
    'customer.phone',
    '+5511987654321',
    'must be area code and number, 10 to 11 digits without the +55 of Brazil, digits only'
  ],
  ['customer.document', '529.982.247-25', 'must be digits only, without dots and hyphens'],
  ['customer.document', '5299822472', 'must have 11 characters (CPF) or 14 (CNPJ), and has 10'],
  ['customer.document', '52998224724', 'must have valid check digits'],
  ['customer.document', 52_998_224_725, 'must be a string, in quotes'],
  ['customer.address.zip_code', 1_310_100, 'must be a string, in quotes'],
  ['customer.address.number', 1000, 'must be a string, in quotes'],
  ['customer.address.number', 'x'.repeat(11), 'must have at most 10 characters'],
  ['customer.address.state', 'São Paulo', 'must be the two-letter abbreviation of a Brazilian state, such as SP'],
  ['metadata', [], 'must be an object with at most 20 pairs, or null'],
  [
    'metadata.note',
    CARD,
    'must not contain a card number, or a number that looks like one: put a letter directly before it'
  ],
  ['metadata.note', 'x'.repeat(501), 'must have at most 500 characters'],
  ['metadata.note', [1], 'must be a string, a number, true, false or null'],
  ['metadata.note', 1e300, 'must be at most 9007199254740991'],
  ['metadata.note', 'a\u0000', 'must not contain control characters other than tabs and line breaks'],
  ['metadata.cvv', '1', 'must be another key: this one is a card number, or the name of card data'],
  [`metadata.${'k'.repeat(41)}`, 1, 'must have at most 40 characters']
]

describe('POST /v1/payments: the sentence of each rule', () => {
  const api = useApi()
  before(() => {
    api.payments.submission = {
      kind: 'finished',
      terms: aPayment().terms,
      result: { kind: 'succeeded', progress: capturedProgress() },
      isReplay: false
    }
  })

  const refusals = async (path: string, value: unknown): Promise<unknown> =>
    (await api.request('POST', '/v1/payments', { body: withField(aCreateBody(), path, value) })).error.fields

  for (const [path, value, message] of sentences) {
    it(`${path} ${JSON.stringify(value).slice(0, 24)}: ${message}`, async () => {
      expect(await refusals(path, value)).to.deep.equal([{ path, message }])
    })
  }

  it('says once what kind of source is missing', async () => {
    const message = 'is required: must be "token" (with token_id) or "card" (with card_id)'
    expect(await refusals('payment_source', {})).to.deep.equal([{ path: 'payment_source.source_type', message }])
  })

  it('says each broken rule of a field', async () => {
    const [problem] = (await refusals('customer.name', `${'x'.repeat(120)} ${CARD}`)) as { message: string }[]
    const [first, second] = problem?.message.split('; ').sort() ?? []
    expect(first).to.equal('must have at most 120 characters')
    expect(second).to.contain('must not contain a card number')
  })

  const passes: readonly (readonly [string, unknown])[] = [
    ['metadata.seller_cnpj', '36100222000123'],
    ['metadata.seller_cnpj', '36.100.222/0001-23'],
    ['metadata.seller_cnpj', 36_100_222_000_123],
    ['metadata.seller', 'CNPJ:36100222000123;'],
    ['metadata.seller_cnpj', 'G4111222000862'],
    ['external_reference', '36100222000123'],
    ['metadata.nfe', '3526 1136 1002 2200 0123 5500 1000 0012 3411 1111 1111'],
    ['customer.name', 'Loja 36100222000123']
  ]
  for (const [path, value] of passes) {
    it(`takes a CNPJ or the key of an invoice: ${path} ${value}`, async () => {
      expect(await refusals(path, value)).to.equal(undefined)
    })
  }
})

/** The example of the tax authority, as 12.ABC.345/01DE-35. */
const OFFICIAL = '12ABC34501DE35'

describe('POST /v1/payments: customer.document with CNPJ_WITH_LETTERS', () => {
  const api = useApi({ env: { CNPJ_WITH_LETTERS: 'yes' } })
  before(() => {
    const { terms } = aPayment()
    const result = { kind: 'succeeded', progress: capturedProgress() } as const
    api.payments.submission = { kind: 'finished', terms, result, isReplay: false }
  })

  const pay = (document: string): ReturnType<RunningApi['request']> =>
    api.request('POST', '/v1/payments', { body: withField(aCreateBody(), 'customer.document', document) })

  const withLetters = [OFFICIAL, ...['ABCDEFGHIJKL', 'ZZZZZZZZZZZZ', '0000000000A1'].map(base => base + digitsOf(base))]
  for (const document of [...withLetters, '11222333000181', '52998224725']) {
    it(`takes ${document} and hands it on unchanged`, async () => {
      expect((await pay(document)).status).to.equal(201)
      expect(api.payments.creates.at(-1)?.request.buyer.document).to.equal(document)
    })
  }

  const letters = 'must be digits and capital letters only, without dots and hyphens'
  const digits = 'must have valid check digits'
  for (const [what, document, message] of [
    ['a wrong check digit', '12ABC34501DE36', digits],
    ['another letter', '12ABD34501DE35', digits],
    ['small letters', OFFICIAL.toLowerCase(), letters],
    ['separators', '12.ABC.345/01DE-35', letters],
    ['a letter for a check digit', '12ABC34501DE3F', digits],
    ['an accent', '12ÁBC34501DE35', letters],
    ['13 characters', OFFICIAL.slice(1), 'must have 11 characters (CPF) or 14 (CNPJ), and has 13'],
    ['one digit repeated', '00000000000000', digits],
    ['a CPF with letters', '5299822472A', digits]
  ] as const) {
    it(`refuses ${what}, and says the rule without the value`, async () => {
      const answer = await pay(document)
      expect(answer.status).to.equal(400)
      expect(answer.error.fields).to.deep.equal([{ path: 'customer.document', message }])
      expect(answer.text).not.to.contain(document)
    })
  }
})

/** The check digits by the rule of the tax authority, written out: weights by position, modulo 11. */
function digitsOf(base: string): string {
  const digit = (text: string, weights: readonly number[]): number => {
    const sum = [...text].reduce((total, character, index) => {
      return total + (character.charCodeAt(0) - 48) * (weights[index] ?? 0)
    }, 0)
    return sum % 11 < 2 ? 0 : 11 - (sum % 11)
  }
  const weights = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
  const first = digit(base, weights)
  return `${first}${digit(`${base}${first}`, [6, ...weights])}`
}
