import { expect } from 'chai'
import { fingerprintOf } from '../../../api/payments/request-scope.js'

const CREATE = 'POST /v1/payments'

describe('fingerprint of a request', () => {
  const same: readonly [string, unknown, unknown][] = [
    ['another order of keys, at every level', { a: 1, b: { c: 2, d: [3] } }, { b: { d: [3], c: 2 }, a: 1 }],
    ['another way to write a number', JSON.parse('{"a":100}'), JSON.parse('{"a":1e2}')],
    ['no body and an empty object', undefined, {}],
    ['another CVV', { payment_source: { cvv: '123' } }, { payment_source: { cvv: '999' } }]
  ]
  for (const [name, one, other] of same) {
    it(`is the same for ${name}`, () => {
      expect(fingerprintOf(CREATE, one)).to.equal(fingerprintOf(CREATE, other))
    })
  }

  const different: readonly [string, unknown, unknown][] = [
    ['another value', { a: 1 }, { a: 2 }],
    ['another type', { a: 1 }, { a: '1' }],
    ['an explicit null', { a: null }, {}],
    ['another order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['a CVV and none', { payment_source: { card_id: 'c', cvv: '123' } }, { payment_source: { card_id: 'c' } }],
    ['members that only look like others', { a: 'x","b":"y' }, { a: 'x', b: 'y' }]
  ]
  for (const [name, one, other] of different) {
    it(`differs for ${name}`, () => {
      expect(fingerprintOf(CREATE, one)).not.to.equal(fingerprintOf(CREATE, other))
    })
  }

  it('differs for another method or path', () => {
    expect(fingerprintOf(CREATE, {})).not.to.equal(fingerprintOf('POST /v1/payments/1/cancel', {}))
  })
})
