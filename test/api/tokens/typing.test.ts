import { expect } from 'chai'
import fc from 'fast-check'
import { type EnteredCard, problemOf } from '../../../api/tokens/browser/card-rules.js'
import { cssVariables } from '../../../api/tokens/browser/style-options.js'
import { LOCALES, localeFor, texts } from '../../../api/tokens/browser/texts.js'
import {
  caretIn,
  cvvLengthsOf,
  digitsOf,
  formatExpiry,
  formatNumber,
  readExpiry
} from '../../../api/tokens/browser/typing.js'
import { testCards } from '../../../machines/test-cards.js'

const NOW_MS = Date.UTC(2026, 10, 20)
const card: EnteredCard = { number: '4024 0071 5376 0060', expiry: '12 / 30', cvv: '123', name: 'Ada Lovelace' }

describe('hosted fields: what is typed', () => {
  for (const [typed, shown] of [
    ['4024007153760060', '4024 0071 5376 0060'],
    ['40240071', '4024 0071'],
    ['4024-0071 5376.0060', '4024 0071 5376 0060'],
    ['378282246310005', '3782 822463 10005'],
    ['36259600000004', '3625 960000 0004'],
    ['53152817039212001234', '5315 2817 0392 1200'],
    ['6362970000457070', '6362 9700 0045 7070'],
    ['', '']
  ] as const) {
    it(`shows the number ${typed || '(none)'} as "${shown}"`, () => {
      expect(formatNumber(typed)).to.equal(shown)
    })
  }

  for (const [typed, shown] of [
    ['1', '1'],
    ['12', '12'],
    ['123', '12 / 3'],
    ['1230', '12 / 30'],
    ['5', '05 / '],
    ['5/', '05 / '],
    ['1/', '01 / '],
    ['1/31', '01 / 31'],
    ['12/2031', '12 / 31'],
    ['122031', '12 / 31'],
    ['2031-12', '12 / 31'],
    ['12 / ', '12 / '],
    ['12 /', '12'],
    ['12/', '12 / ']
  ] as const) {
    it(`shows the expiry ${typed} as "${shown}"`, () => {
      expect(formatExpiry(typed)).to.equal(shown)
    })
  }

  it('takes a year of four digits that is typed key by key', () => {
    const shown = [...'12/2031'].reduce((before, key) => formatExpiry(before + key), '')
    expect(shown).to.equal('12 / 31')
    expect(formatExpiry('12 / 203')).to.equal('12 / 203')
    expect(formatExpiry('12 / 301')).to.equal('12 / 30')
    expect(readExpiry('12 / 203')).to.equal(null)
  })

  it('loses no digit of a test card, and formats what is formatted to itself', () => {
    for (const { number } of testCards) expect(digitsOf(formatNumber(number))).to.equal(number)
    fc.assert(
      fc.property(fc.string(), text => {
        const once = formatNumber(text)
        expect(formatNumber(once)).to.equal(once)
        expect(formatExpiry(formatExpiry(text))).to.equal(formatExpiry(text))
      })
    )
  })

  it('keeps the caret behind the digit that was typed', () => {
    expect(caretIn('4024 0071', 4)).to.equal(4)
    expect(caretIn('4024 0071', 5)).to.equal(6)
    expect(caretIn('4024 0071', 8)).to.equal(9)
    expect(caretIn('', 0)).to.equal(0)
  })

  it('reads a whole expiry only', () => {
    expect(readExpiry('07 / 31')).to.deep.equal({ month: '07', year: '2031' })
    for (const text of ['', '07', '07 / 3', '13 / 31', '00 / 31']) expect(readExpiry(text), text).to.equal(null)
  })
})

describe('hosted fields: what is wrong with a card', () => {
  const at = (nowMs: number, cvvLengths: readonly number[] = [3]) => ({ nowMs, cvvLengths })

  it('is nothing for a valid one', () => {
    for (const field of ['number', 'expiry', 'cvv', 'name'] as const) {
      expect(problemOf(field, card, at(NOW_MS)), field).to.equal(null)
    }
  })

  for (const [field, changes, problem, lengths = [3]] of [
    ['number', { number: '' }, 'number_missing'],
    ['number', { number: '4024 0071' }, 'number_incomplete'],
    ['number', { number: '4024 0071 5376 0061' }, 'number_wrong'],
    ['number', { number: '1000 0000 0000 0008' }, 'brand_unknown'],
    ['number', { number: '4024 0071 5376 008' }, 'number_wrong'],
    ['expiry', { expiry: '' }, 'expiry_missing'],
    ['expiry', { expiry: '1' }, 'expiry_wrong'],
    ['expiry', { expiry: '13 / 30' }, 'month_wrong'],
    ['expiry', { expiry: '10 / 26' }, 'expired'],
    ['cvv', { cvv: '' }, 'cvv_missing'],
    ['cvv', { cvv: '12' }, 'cvv_needs_3'],
    ['cvv', { cvv: '123' }, 'cvv_needs_4', [4]],
    ['cvv', { cvv: '12' }, 'cvv_needs_3_or_4', [3, 4]],
    ['name', { name: ' ' }, 'name_missing'],
    ['name', { name: '4024 0071 5376 0060' }, 'name_wrong']
  ] as const) {
    it(`is ${problem} for ${JSON.stringify(changes)}`, () => {
      expect(problemOf(field, { ...card, ...changes }, at(NOW_MS, lengths))).to.equal(problem)
    })
  }

  it('lets a card be used until its month has ended everywhere', () => {
    expect(problemOf('expiry', { ...card, expiry: '11 / 26' }, at(Date.UTC(2026, 11, 1, 11)))).to.equal(null)
    expect(problemOf('expiry', { ...card, expiry: '11 / 26' }, at(Date.UTC(2026, 11, 1, 13)))).to.equal('expired')
  })
})

describe('the security code of a stored card', () => {
  it('has the digits of its brand; of an unknown one, either length', () => {
    expect(['visa', 'elo', 'amex', 'a-new-brand', ''].map(cvvLengthsOf)).to.deep.equal([[3], [3], [4], [3], [3, 4]])
  })
})

describe('hosted fields: languages and looks', () => {
  it('chooses Portuguese for its locales, else English', () => {
    expect(['pt', 'pt-BR', 'PT-pt'].map(localeFor)).to.deep.equal(['pt-BR', 'pt-BR', 'pt-BR'])
    expect(['en', 'de', '', 'ptolemaic'].map(localeFor)).to.deep.equal(['en', 'en', 'en', 'en'])
  })

  it('has every text in every language, without duplicates', () => {
    for (const locale of LOCALES) {
      const { problems, failures, labels } = texts[locale]
      const sentences = [...Object.values(problems), ...Object.values(failures), ...Object.values(labels)]
      expect(new Set(sentences).size).to.equal(sentences.length)
      expect(sentences.every(sentence => sentence.length > 2)).to.equal(true)
    }
    expect(Object.keys(texts['pt-BR'].problems)).to.deep.equal(Object.keys(texts.en.problems))
  })

  it('takes the style options of the list in their forms', () => {
    expect(cssVariables({ colorFocus: '#7a4a21', borderRadius: '0.5rem', fontSize: '16px' })).to.deep.equal([
      ['--color-focus', '#7a4a21'],
      ['--border-radius', '0.5rem'],
      ['--font-size', '16px']
    ])
    expect(cssVariables(undefined)).to.deep.equal([])
  })

  for (const style of [
    { color: '#fff' },
    { colorText: 'url(//evil.example/x)' },
    { colorText: 'red;background:url(x)' },
    { fontSize: '1px' },
    { fontFamily: 'x, url(y)' },
    { colorText: 5 },
    { __proto__: null, constructor: '#fff' },
    'color:red'
  ]) {
    it(`refuses the style ${JSON.stringify(style)}, and names the option`, () => {
      expect(() => cssVariables(style)).to.throw(TypeError, /`style/)
    })
  }
})
