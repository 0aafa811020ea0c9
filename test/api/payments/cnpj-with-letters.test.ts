import { expect } from 'chai'
import { aCreateBody, aPayment, capturedProgress, withField } from '../builders.js'
import { type RunningApi, useApi } from '../running-api.js'

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
