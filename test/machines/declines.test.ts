import { expect } from 'chai'
import { declineColumns, declineOf, declineReasons, declineRows } from '../../machines/declines.js'
import { failureOf } from '../../machines/payment/operations.js'
import { CARD_DECLINES_MAX, declineUnsent } from '../../machines/stored-card-retries.js'
import { outcomeOfSale } from '../../scripts/simulator/outcomes.js'
import { policy, references, someTerms } from '../support/payments.js'

const reasonOf = (brand: string, code: string, environment: 'test' | 'live' = 'live') => {
  const { reason, mayRetry } = declineOf(brand, code, environment)
  return [reason, mayRetry]
}

describe('the reason of a decline', () => {
  it('depends on the brand in the live environment', () => {
    expect(reasonOf('visa', '57')).to.deep.equal(['not_permitted', false])
    expect(reasonOf('mastercard', '57')).to.deep.equal(['not_permitted', true])
    expect(reasonOf('hipercard', '57')).to.deep.equal(['not_permitted', true])
    expect(reasonOf('elo', '63')).to.deep.equal(['invalid_data', false])
    expect(reasonOf('mastercard', '63')).to.deep.equal(['suspected_fraud', true])
    expect(reasonOf('amex', '100')).to.deep.equal(['do_not_honor', true])
  })

  it('is an expired card for 57 in the test environment only', () => {
    expect(reasonOf('visa', '57', 'test')).to.deep.equal(['expired_card', false])
    expect(reasonOf('visa', '54', 'test')).to.deep.equal(['other', false])
    for (const [brand, code] of [
      ['visa', '54'],
      ['elo', '54'],
      ['jcb', '54'],
      ['amex', '54'],
      ['amex', 'BV'],
      ['amex', '101']
    ] as const) {
      expect(reasonOf(brand, code)).to.deep.equal(['expired_card', false])
    }
    expect(reasonOf('visa', '101')).to.deep.equal(['other', false])
  })

  it('reads a code with and without zeros, spaces and capitals', () => {
    for (const code of ['5', '05', '005']) expect(reasonOf('visa', code)).to.deep.equal(['do_not_honor', true])
    for (const code of ['BP171', 'BP 171', 'bp171'])
      expect(reasonOf('elo', code)).to.deep.equal(['limit_exceeded', true])
  })

  it('is what the three large brands say alike, for a brand without codes of its own', () => {
    expect(reasonOf('diners', '51')).to.deep.equal(['insufficient_funds', true])
    expect(reasonOf('discover', '57')).to.deep.equal(['other', false])
  })

  it('is `other`, without a retry, for a code that no row lists', () => {
    for (const brand of ['visa', 'amex', 'jcb']) expect(reasonOf(brand, 'ZZ')).to.deep.equal(['other', false])
  })

  it('is known for each test card that is declined', () => {
    for (const digit of '25678') {
      const { returnCode } = outcomeOfSale(
        { cardNumber: digit, expirationDate: '12/2030', amount: 100 },
        Date.UTC(2026, 0, 1)
      )
      expect(declineOf('elo', returnCode, 'test').reason, returnCode).not.to.equal('other')
    }
  })

  it('has one row for each code of a column, and a code for each reason', () => {
    for (const column of declineColumns) {
      const codes = declineRows.flatMap(row => row.codes[column]).map(code => code.replace(/^0+/, ''))
      expect(
        codes.filter((code, at) => codes.indexOf(code) !== at),
        column
      ).to.deep.equal([])
    }
    expect([...new Set(declineRows.map(({ reason }) => reason))]).to.have.members(declineReasons)
  })

  it('decides which error the request gets, answered at once or found by a query', () => {
    const operation = { kind: 'authorization', state: 'in_progress', amountCents: 1, idempotencyKey: 'k' } as const
    const live = { ...policy, environment: 'live' } as const
    for (const [code, failure] of [
      ['54', 'card_expired'],
      ['51', 'card_declined']
    ] as const) {
      const own = { ...references, saleId: 'sale' }
      const sale = {
        references: own,
        status: 'denied',
        amountCents: 1,
        capturedCents: 0,
        voidedCents: 0,
        declinedCode: code,
        currency: 'BRL',
        isChargedBack: false
      } as const
      expect(failureOf(someTerms(), operation, { type: 'DECLINED', code, references, nowMs: 0 }, live)).to.equal(
        failure
      )
      expect(failureOf(someTerms(), operation, { type: 'SALE_GONE', sale, nowMs: 0 }, live)).to.equal(failure)
    }
  })
})

describe('a stored card that is not tried again', () => {
  /** What the next payment is told after declines with these codes. */
  const told = (...codes: string[]): unknown => {
    const decline = declineUnsent(codes, 'visa', 'live')
    return decline && [decline.means, decline.mayRetry]
  }
  const often = Array<string>(CARD_DECLINES_MAX - 1).fill('51')

  it('gives the newest of its final declines as the reason', () => {
    expect(told('41', '51', '43', '51')).to.deep.equal(['stolen', false])
  })

  it('gives its last decline after as many as card networks allow, unless one was final', () => {
    expect(told(...often)).to.equal(undefined)
    expect(told(...often, '61')).to.deep.equal(['above the limit of one purchase', false])
    expect(told('41', ...often)).to.deep.equal(['lost', false])
  })
})
