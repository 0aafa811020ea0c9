import { expect } from 'chai'
import {
  holdsCardData,
  holdsCardNumber,
  isCardData,
  isCardNumber,
  namesCardData
} from '../../machines/card-data-in-text.js'

describe('card data in free text', () => {
  const found = [
    ...['4024007153760060', '4024 0071 5376 0060', '4024-0071-5376-0060', '4024.0071.5376.0060', '378282246310005'],
    ...['3782 822463 10005', 'card:4024007153760060;', 'my card 12 4024 0071 5376 0060 12/30', 'nº4024007153760060'],
    ...['4111 1111 1111 1111 1227 123', '4111 1111 1111 1111 12 27', '2026 4111 1111 1111 1111', '30569309025904'],
    ...['4024_0071_5376_0060', '4024/0071/5376/0060', '4024  0071  5376  0060', '4024\u200b0071\u200b5376\u200b0060'],
    ...['40240\u200c0715376\ufeff0060', '4024. 0071. 5376. 0060'],
    ...['1234 4024 0071 5376 0060 123', '{"n":"5315281703921200","cvv":"123"}', 'PAN4024007153760060', '30569309025904']
  ]
  for (const text of found) it(`finds the number in ${text}`, () => expect(holdsCardNumber(text)).to.equal(true))

  const passed = [
    ...['36100222000123', 'CNPJ:36100222000123;', '36.100.222.0001-23', 'G4111222000862'],
    ...['3526 1136 1002 2200 0123 5500 1000 0012 3411 1111 1111', '4111 1111 1111 1111 4111 1111', '4111-'.repeat(11)],
    ...[
      '',
      'order 4024',
      '4024007153760061',
      '402400715376006',
      '1763817336000',
      '20261122134500123456',
      '9'.repeat(44)
    ],
    ...['34191.79001 01043.510047 91020.150008 6 91070026000', '+55 11 98765-4321', '11.222.333/0001-81', 'é, ação'],
    ...['a4024007153760060', '4024007153760060f', '00000000-4024-4007-8153-760060000000', '14024007153760060']
  ]
  for (const text of passed) it(`passes ${text}`, () => expect(holdsCardNumber(text)).to.equal(false))

  it('distinguishes a card number from a text that contains one', () => {
    expect(isCardNumber(' 4024 0071-5376.0060 ')).to.equal(true)
    expect(isCardNumber('order-4024007153760060')).to.equal(false)
  })

  it('finds a security code under its name, and card data in what may be an order id', () => {
    for (const text of ['cvv:123', 'card 12, CVC2 = "1234"', 'security_code: 123', '{"cvv":"123"}']) {
      expect(holdsCardData(text), text).to.equal(true)
    }
    for (const text of ['cvv', 'cvv:12345', 'csc 123']) expect(holdsCardData(text), text).to.equal(false)
    for (const text of ['card:4024007153760060;cvv:123', 'cartao=4024007153760060', '4024007153760060', 'x;cvv:123']) {
      expect(isCardData(text), text).to.equal(true)
    }
    expect(isCardData('order-4024007153760060')).to.equal(false)
  })

  it('knows names of card data, however they are written', () => {
    for (const key of [
      'cvv',
      'CVV',
      'card_number',
      'Card-Number',
      'cardNumber',
      'pan',
      'código de segurança',
      'cvv_code',
      'sec_code'
    ]) {
      expect(namesCardData(key), key).to.equal(true)
    }
    for (const key of ['company', 'card_last4', 'cart_number', 'span', ''])
      expect(namesCardData(key), key).to.equal(false)
  })

  /** The figures of docs/decisions/0022-card-data-in-free-text.md. */
  it('takes few random numbers for card numbers', () => {
    let state = 1
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    const share = (length: number): number => {
      let hits = 0
      for (let index = 0; index < 20_000; index++) {
        const digits = Array.from({ length }, () => Math.floor(random() * 10)).join('')
        if (isCardNumber(digits)) hits++
      }
      return hits / 20_000
    }
    const expected = { 12: 0, 13: 1, 14: 0.36, 15: 0.2, 16: 2.6, 17: 0.22, 18: 0.22, 19: 1.6 }
    for (const [length, percent] of Object.entries(expected)) {
      expect(share(Number(length)) * 100, `percent of numbers of ${length} digits`).to.be.closeTo(percent, 0.4)
    }
  })
})
