import { expect } from 'chai'
import { readSale, readSaleIds } from '../../../workers/network/query-answers.js'
import type { Exchange } from '../../../workers/network/transport.js'

function answer(status: number, body: unknown): Exchange {
  return { kind: 'answered', status, text: typeof body === 'string' ? body : JSON.stringify(body) }
}

describe("the answer to the query for an order's sales", () => {
  it('lists them oldest first, with any order and spelling on the wire', () => {
    const current = {
      ReasonCode: 0,
      Payments: [
        { PaymentId: 'b', ReceveidDate: '2026-11-20T13:36:05.1' },
        { PaymentId: 'a', ReceivedDate: '2026-11-20T13:36:04.033' }
      ]
    }
    expect(readSaleIds(answer(200, current))).to.deep.equal({ kind: 'listed', saleIds: ['a', 'b'] })
    expect(readSaleIds(answer(200, { Payment: [{ PaymentId: 'a' }] }))).to.deep.equal({
      kind: 'listed',
      saleIds: ['a']
    })
  })

  const absences: [string, Exchange][] = [
    ['404 without a body', answer(404, '')],
    ['404 with an error', answer(404, [{ Code: 307, Message: 'Transaction not found' }])],
    ['400 with 318', answer(400, [{ Code: 318, Message: 'No transaction found' }])],
    ['an empty list', answer(200, { Payments: [] })]
  ]
  for (const [description, exchange] of absences) {
    it(`takes ${description} as absence`, () => expect(readSaleIds(exchange)).to.deep.equal({ kind: 'absent' }))
  }

  const noAnswers: [string, Exchange][] = [
    ['a 404 page, which may be a wrong address', answer(404, '<html></html>')],
    ["a proxy's 404", answer(404, { message: 'no Route matched with those values' })],
    ['401', answer(401, '')],
    ['400 with another error', answer(400, [{ Code: 114 }])],
    ['a time-out', answer(504, '')],
    ['a success without a list', answer(200, {})],
    ['a list with a hole', answer(200, { Payments: [{ PaymentId: 'a' }, {}] })],
    ['nonsense', answer(200, 'ok')],
    ['no connection', { kind: 'not_sent', reason: 'ECONNREFUSED' }],
    ['a cut connection', { kind: 'ambiguous', reason: 'UND_ERR_SOCKET' }]
  ]
  for (const [description, exchange] of noAnswers) {
    it(`takes ${description} as no answer`, () => expect(readSaleIds(exchange).kind).to.equal('no_answer'))
  }
})

describe('the answer to the query for one sale', () => {
  const read = (payment: object) =>
    readSale(answer(200, { MerchantOrderId: 'order1', Payment: { PaymentId: 'p-1', Amount: 1000, ...payment } }), 'p-1')
  const facts = (payment: object) => {
    const found = read(payment)
    if (found.kind !== 'sale') return found.kind
    const { status, amountCents, capturedCents, voidedCents } = found.sale
    return [status, amountCents, capturedCents, voidedCents]
  }

  it('returns status and cumulative amounts', () => {
    expect(facts({ Status: 1 })).to.deep.equal(['authorised', 1000, 0, 0])
    expect(facts({ Status: 2, CapturedAmount: 700 })).to.deep.equal(['captured', 1000, 700, null])
    expect(facts({ Status: 2, CapturedAmount: 700, VoidedAmount: 200 })).to.deep.equal(['captured', 1000, 700, 200])
    expect(facts({ Status: 11, CapturedAmount: 700 })).to.deep.equal(['voided', 1000, 700, 700])
    expect(facts({ Status: 10, VoidedAmount: 1000 })).to.deep.equal(['voided', 1000, 0, 1000])
    expect(facts({ Status: 13 })).to.deep.equal(['denied', 1000, 0, 0])
  })

  it('reports a status that decides nothing as unfinished', () => {
    for (const Status of [0, 12, 14, 20]) expect(facts({ Status })).to.deep.equal(['unfinished', 1000, 0, 0])
  })

  it('does not guess the captured amount', () => {
    expect(facts({ Status: 2 })).to.equal('no_answer')
    expect(facts({ Status: 1, Amount: 'ten' })).to.equal('no_answer')
    expect(facts({ Status: null })).to.equal('no_answer')
  })

  it('does not read an unreadable amount as zero', () => {
    for (const unreadable of ['2,00', 2.5, -200, {}, true]) {
      expect(facts({ Status: 2, CapturedAmount: 700, VoidedAmount: unreadable }), String(unreadable)).to.equal(
        'no_answer'
      )
      expect(facts({ Status: 10, CapturedAmount: unreadable }), String(unreadable)).to.equal('no_answer')
    }
    expect(facts({ Status: 2, CapturedAmount: 700, VoidedAmount: null })).to.deep.equal(['captured', 1000, 700, null])
  })

  it('does not count as an answer when it is about another sale', () => {
    expect(read({ PaymentId: 'P-1', Status: 1 }).kind).to.equal('sale')
    expect(read({ PaymentId: 'p-2', Status: 1 }).kind).to.equal('no_answer')
  })

  it('names the order, the code of a denial and a chargeback', () => {
    const denied = read({ Status: 3, ReturnCode: '05' })
    expect(denied).to.include({ kind: 'sale', orderId: 'order1' })
    expect(denied).to.have.nested.include({ 'sale.declinedCode': '05', 'sale.isChargedBack': false })
    const disputed = read({ Status: 2, CapturedAmount: 1000, ReturnCode: '003', Chargebacks: [{ Amount: 1000 }] })
    expect(disputed).to.have.nested.include({ 'sale.declinedCode': null, 'sale.isChargedBack': true })
  })

  it('does not count as an answer when the sale is missing', () => {
    expect(readSale(answer(404, ''), 'p-1').kind).to.equal('no_answer')
  })
})
