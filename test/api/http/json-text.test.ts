import { expect } from 'chai'
import { roundedNumbers, structureOf } from '../../../api/http/json-text.js'

/** Where `JSON.parse` changes a number of the text. */
function roundedIn(text: string): string[] {
  JSON.parse(text)
  return roundedNumbers(text, structureOf(text, 500)).map(place => place.join('.'))
}

describe('numbers that JSON.parse keeps', () => {
  const kept = [
    ...['0', '-0', '0.0', '0e5', '0e-999', '1', '-1', '1990', '2000.0', '2e3', '2E+3', '20e2', '2000000e-3'],
    ...['0.1', '0.30000000000000004', '1e-7', '123.456e2', '1e21', '1e23', '1.7976931348623157e308', '5e-324'],
    ...['9007199254740991', '9007199254740992', '9007199254740994', '999999999999999', '1999.00000000000000000']
  ]
  for (const number of kept) {
    it(number, () => {
      expect(roundedIn(`{"a":[${number}]}`)).to.deep.equal([])
    })
  }

  it('include texts that look like numbers', () => {
    expect(roundedIn('{"a":"1e400","9007199254740993":"x","b":"\\"1e400"}')).to.deep.equal([])
  })

  it('include every number that JavaScript writes', () => {
    for (let count = 0; count < 2_000; count++) {
      const number = (Math.random() - 0.5) * 10 ** Math.floor(Math.random() * 600 - 300)
      expect(roundedIn(`[${number}]`), String(number)).to.deep.equal([])
    }
  })
})

describe('numbers that JSON.parse changes', () => {
  const changed = [
    ...['1999.99999999999999999', '9007199254740993', '-9007199254740993', '1e400', '-1e400', '1e-400', '2e-324'],
    ...['0.1000000000000000001', '123456789012345678', '1.00000000000000001e3', `1${'0'.repeat(400)}`, '1e99999999999']
  ]
  for (const number of changed) {
    it(number.slice(0, 30), () => {
      expect(roundedIn(`{"a":[1,{"b":${number}}],"c":1e400}`)).to.deep.equal(['a.1.b', 'c'])
    })
  }

  it('include one that is longer than any that JavaScript writes', () => {
    expect(roundedIn(`[1.${'0'.repeat(39)}]`)).to.deep.equal(['0'])
    expect(roundedIn(`[1.${'0'.repeat(38)}]`)).to.deep.equal([])
  })

  it('include every integer whose digits come back different from a double', () => {
    for (let count = 0; count < 2_000; count++) {
      const number = `${Math.floor(Math.random() * 9e15) + 1e15}${Math.floor(Math.random() * 1e4)}`
      const isSame = number === String(Number(number))
      expect(roundedIn(`[${number}]`), number).to.deep.equal(isSame ? [] : ['0'])
    }
  })
})
