import { expect } from 'chai'
import fc from 'fast-check'
import { brandOf, isLuhnValid } from '../../machines/card-brands.js'
import { isTestCard, testCards } from '../../machines/test-cards.js'

describe('card brands', () => {
  const numbers: Record<string, string | null> = {
    '4111111111111111': 'visa',
    '4011780000000000': 'elo',
    '4576320000000000': 'elo',
    '4576330000000000': 'visa',
    '5067000000000000': 'elo',
    '6500310000000000': 'elo',
    '6500340000000000': 'discover',
    '5555555555554444': 'mastercard',
    '2221000000000009': 'mastercard',
    '2720990000000000': 'mastercard',
    '2721000000000000': null,
    '378282246310005': 'amex',
    '6062825624254001': 'hipercard',
    '38410000000000000': 'hipercard',
    '6370950000000005': 'hiper',
    '5078601870000127985': 'aura',
    '38520000023237': 'diners',
    '6011111111111117': 'discover',
    '3530111333300000': 'jcb',
    '9999999999999995': null,
    '': null
  }
  for (const [number, brand] of Object.entries(numbers)) {
    it(`takes ${number || 'no number'} for ${brand}`, () => expect(brandOf(number)).to.equal(brand))
  }
})

describe('the check digit', () => {
  it('is right in known numbers', () => {
    for (const number of ['4111111111111111', '378282246310005', '30569309025904']) {
      expect(isLuhnValid(number), number).to.equal(true)
    }
  })

  it('finds every single wrong digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 15 }), fc.integer({ min: 1, max: 9 }), (place, change) => {
        const digits = [...'4024007153760060']
        digits[place] = String((Number(digits[place]) + change) % 10)
        return !isLuhnValid(digits.join(''))
      })
    )
  })

  it('is not applied to what is not a card number', () => {
    for (const text of ['', '0', '4024 0071 5376 0060', '0'.repeat(20), '4024007153760060\n']) {
      expect(isLuhnValid(text), JSON.stringify(text)).to.equal(false)
    }
  })
})

describe('the published test cards', () => {
  it('are valid numbers of the brand that they claim', () => {
    for (const card of testCards) {
      expect(isLuhnValid(card.number), card.number).to.equal(true)
      expect(brandOf(card.number)).to.equal(card.brand)
    }
  })

  it('are one for each last digit and brand, the same digit with the same outcome', () => {
    expect(new Set(testCards.map(card => card.brand + card.number.slice(-1))).size).to.equal(30)
    const outcomes = new Set(testCards.map(card => card.number.slice(-1) + card.outcome))
    expect(outcomes.size).to.equal(10)
  })

  it('are the only ones', () => {
    expect(isTestCard('4024007153760060')).to.equal(true)
    expect(isTestCard('4111111111111111')).to.equal(false)
  })
})
