/** Every answer that the acquirer is known to give, or that something in front of it may give, and what it means. */
import { expect } from 'chai'
import { readAuthorisation, readCapture, readVoid } from '../../../workers/network/call-answers.js'
import type { Exchange } from '../../../workers/network/transport.js'

const NONE = { saleId: null, tid: null, nsu: null, authorizationCode: null }

/** `body` as text is sent as it is. */
function answer(status: number, body: unknown): Exchange {
  return { kind: 'answered', status, text: typeof body === 'string' ? body : JSON.stringify(body) }
}

const ASKED = { orderId: 'order1', amountCents: 1_000 }
const HTML = '<html><body><h1>504 Gateway Time-out</h1></body></html>'
const ids = { PaymentId: 'p-1', Tid: '0414081732692', ProofOfSale: '1825865', AuthorizationCode: '374385' }

describe('the answer to an authorisation', () => {
  it('approves, with the references', () => {
    const references = { saleId: 'p-1', tid: '0414081732692', nsu: '1825865', authorizationCode: '374385' }
    const authorised = answer(201, { Payment: { ...ids, Status: 1, ReturnCode: '4', Interest: 0 } })
    expect(readAuthorisation(authorised, ASKED)).to.deep.equal({ kind: 'approved', isCaptured: false, references })
    const captured = answer(200, { New: [], Payment: { ...ids, Status: '2', ReturnCode: 6, Interest: 'ByMerchant' } })
    expect(readAuthorisation(captured, ASKED)).to.deep.equal({ kind: 'approved', isCaptured: true, references })
  })

  it('approves what repeats the order and the amount that were asked for', () => {
    const told = { MerchantOrderId: 'order1', Payment: { ...ids, Status: 2, Amount: '1000', CapturedAmount: 1000 } }
    expect(readAuthorisation(answer(201, told), ASKED)).to.include({ kind: 'approved', isCaptured: true })
  })

  for (const code of ['0', '00', '4', '6', '11']) {
    it(`approves with the return code ${code}`, () => {
      const approved = answer(201, { Payment: { ...ids, Status: 1, ReturnCode: code } })
      expect(readAuthorisation(approved, ASKED).kind).to.equal('approved')
    })
  }

  it('declines with the code as it was written', () => {
    const denied = answer(201, { Payment: { Status: 3, ReturnCode: '05' } })
    expect(readAuthorisation(denied, ASKED)).to.deep.equal({ kind: 'declined', code: '05', references: NONE })
    const aborted = answer(201, { Payment: { Status: 13 } })
    expect(readAuthorisation(aborted, ASKED)).to.deep.equal({ kind: 'declined', code: 'unspecified', references: NONE })
  })

  it('passes on what the transport knows', () => {
    const notSent: Exchange = { kind: 'not_sent', reason: 'ECONNREFUSED' }
    expect(readAuthorisation(notSent, ASKED)).to.equal(notSent)
  })

  const rejections: [string, Exchange, string][] = [
    ['an error array', answer(400, [{ Code: 126, Message: 'Expiration Date is invalid' }]), '126'],
    ['a single error object', answer(400, { Code: 57, Message: 'Bandeira invalida' }), '57'],
    ['an error that the acquirer knows, with any status', answer(403, [{ Code: 301, Message: 'IP' }]), '301'],
    ['a field that is too long', answer(400, [{ Code: 154, Message: 'District' }]), '154']
  ]
  for (const [description, exchange, code] of rejections) {
    it(`rejects for ${description}`, () =>
      expect(readAuthorisation(exchange, ASKED)).to.deep.equal({ kind: 'rejected', code }))
  }

  const doubts: [string, Exchange][] = [
    ['status 0', answer(201, { Payment: { ...ids, Status: 0, ReturnCode: '99', ReturnMessage: 'Timeout' } })],
    ['status 12', answer(201, { Payment: { ...ids, Status: 12 } })],
    ['an unknown status', answer(201, { Payment: { ...ids, Status: 77 } })],
    ['no status', answer(201, { Payment: ids })],
    ['a sale that is voided already', answer(201, { Payment: { ...ids, Status: 10 } })],
    ['a denial that asks to query first', answer(201, { Payment: { ...ids, Status: 3, ReturnCode: 'BP 900' } })],
    ['a sale of another order', answer(201, { MerchantOrderId: 'order2', Payment: { ...ids, Status: 2 } })],
    ["another order's denial", answer(201, { MerchantOrderId: 'order2', Payment: { Status: 3, ReturnCode: '05' } })],
    ['no payment', answer(201, {})],
    ['an array', answer(201, [])],
    ['null', answer(201, 'null')],
    ['an empty success', answer(201, '')],
    ['a page instead of JSON', answer(200, HTML)],
    ['a gateway time-out', answer(504, HTML)],
    ['an internal error in its own format', answer(500, [{ Code: 126, Message: 'x' }])],
    ['a redirect', answer(302, '')],
    ['a rate limit', answer(429, '')]
  ]
  for (const [description, exchange] of doubts) {
    it(`is ambiguous for ${description}`, () => expect(readAuthorisation(exchange, ASKED).kind).to.equal('ambiguous'))
  }

  const approved = (changes: object) => answer(201, { Payment: { ...ids, Status: 2, ReturnCode: '6', ...changes } })
  const unproven: [string, Exchange][] = [
    ['an approval without an id', approved({ PaymentId: undefined })],
    ['another amount', approved({ Status: 1, Amount: 999 })],
    ['another amount captured', approved({ Amount: 1000, CapturedAmount: 700 })],
    ['an amount that is none', approved({ Amount: '10,00' })],
    ['another currency', approved({ Currency: 'USD' })],
    ['an approval with the code of a denial', approved({ ReturnCode: '05' })],
    ['a denial with the code of an approval', approved({ Status: 3, ReturnCode: '00' })],
    ['an internal error as a refusal', answer(400, [{ Code: 0, Message: 'Internal error' }])],
    ['a duplicated order, which means that there is a sale', answer(400, [{ Code: 302, Message: 'duplicated' }])],
    ['an error code that is in no table', answer(400, [{ Code: 9999, Message: 'x' }])],
    ['several errors, one of them in no table', answer(400, [{ Code: 126 }, { Code: 9999 }])]
  ]
  const unexplained = [400, 401, 403, 404, 405, 409, 410, 422].flatMap((status): [string, Exchange][] => [
    [`${status} without a body`, answer(status, '')],
    [`${status} with a page`, answer(status, HTML)]
  ])
  for (const [description, exchange] of [...unproven, ...unexplained]) {
    const mayArrive = unexplained.some(([name]) => name === description)
    it(`proves nothing for ${description}${mayArrive ? ', which may still be booked' : ''}`, () => {
      const outcome = readAuthorisation(exchange, ASKED)
      expect(outcome.kind).to.equal('unproven')
      expect('mayArrive' in outcome).to.equal(mayArrive)
    })
  }
})

describe('the answer to a capture', () => {
  const flat = (Status: unknown, ReturnCode: unknown) => answer(200, { Status, ReturnCode, Tid: '1' })
  const meanings: [string, Exchange, string][] = [
    ['status 2 with 6', flat(2, '6'), 'approved'],
    ['status 2 with 00', flat(2, '00'), 'approved'],
    ['status 1 with 6', flat(1, '6'), 'ambiguous'],
    ['842, amount too high', flat(1, '842'), 'rejected'],
    ['003, no such sale', flat(0, '003'), 'rejected'],
    ['841, wrong state', flat(2, '841'), 'unproven'],
    ['999, system failure', flat(1, '999'), 'unproven'],
    ['BP 902, another operation is in flight', flat(1, 'BP 902'), 'ambiguous'],
    ['842 with the status of a capture', flat(2, '842'), 'unproven'],
    ['308, not available to capture', answer(400, [{ Code: 308 }]), 'unproven'],
    ['307, not found', answer(400, [{ Code: 307 }]), 'rejected'],
    ['404', answer(404, ''), 'unproven'],
    ['a code that is in no table', flat(1, 'ZZ'), 'unproven'],
    ['no code', answer(200, { Status: 2 }), 'ambiguous'],
    ['no object', answer(200, '[]'), 'ambiguous'],
    ['a page', answer(502, HTML), 'ambiguous']
  ]
  for (const [description, exchange, kind] of meanings) {
    it(`is ${kind} for ${description}`, () => expect(readCapture(exchange, 'p-1').kind).to.equal(kind))
  }

  const [ours, other] = ['24bc8366-fc31-4d6c-8555-17049a836a07', '422b1acb-0000-4d6c-8555-17049a836a07']
  const withLink = (status: number, code: string, saleId: string) =>
    answer(200, {
      Status: status,
      ReturnCode: code,
      Links: [{ Rel: 'self', Href: `https://h/1/sales/${saleId}/void` }]
    })

  it('is ambiguous when its links are those of another sale, also with a clear status', () => {
    for (const code of ['6', '842']) expect(readCapture(withLink(2, code, other), ours).kind).to.equal('ambiguous')
    expect(readVoid(withLink(10, '9', other), ours, { isWhole: true }).kind).to.equal('ambiguous')
    expect(readCapture(withLink(2, '6', ours.toUpperCase()), ours).kind).to.equal('approved')
    expect(readVoid(withLink(10, '9', ours), ours, { isWhole: true }).kind).to.equal('approved')
  })

  it('keeps the id of the sale, which the answer does not repeat', () => {
    expect(readCapture(flat(2, '6'), 'p-1')).to.deep.equal({
      kind: 'approved',
      isCaptured: true,
      references: { ...NONE, saleId: 'p-1', tid: '1' },
      stated: { capturedCents: null, voidedCents: null, isClosed: false }
    })
  })

  it('keeps what it states about the sale', () => {
    const stated = answer(200, { Status: 2, ReturnCode: '6', CapturedAmount: '600' })
    expect(readCapture(stated, 'p-1')).to.deep.include({
      stated: { capturedCents: 600, voidedCents: null, isClosed: false }
    })
    const closed = answer(200, { Status: 10, ReturnCode: '9', VoidedAmount: 1000 })
    expect(readVoid(closed, 'p-1', { isWhole: false })).to.deep.include({
      stated: { capturedCents: null, voidedCents: 1000, isClosed: true }
    })
  })
})

describe('the answer to a void', () => {
  const flat = (Status: number, ReturnCode: string) => answer(200, { Status, ReturnCode })
  const meanings: [string, Exchange, string][] = [
    ['the whole on the same day', flat(10, '9'), 'approved'],
    ['the whole later', flat(11, '0'), 'approved'],
    ['a part', flat(2, '00'), 'approved'],
    ['success with a denied sale', flat(3, '0'), 'ambiguous'],
    ['100, not permitted, although HTTP says 200', flat(2, '100'), 'rejected'],
    ['no balance', flat(2, '76'), 'rejected'],
    ['41, wrong state', flat(2, '41'), 'unproven'],
    ['6, no balance', flat(2, '6'), 'rejected'],
    ['476, another one in processing', flat(2, '476'), 'ambiguous'],
    ['an unknown code', flat(2, 'ZZ'), 'unproven'],
    ['an amount that is none', answer(200, { Status: 2, ReturnCode: '0', VoidedAmount: 'x' }), 'unproven'],
    ['100 with the status of a void', flat(10, '100'), 'unproven'],
    ['309, not available to void', answer(400, [{ Code: 309 }]), 'unproven'],
    ['312, not available to refund', answer(400, [{ Code: 312 }]), 'unproven']
  ]
  for (const [description, exchange, kind] of meanings) {
    it(`is ${kind} for ${description}`, () => expect(readVoid(exchange, 'p-1', { isWhole: false }).kind).to.equal(kind))
  }

  it('of the whole is not a success while the sale is still captured', () => {
    expect(readVoid(flat(2, '0'), 'p-1', { isWhole: true }).kind).to.equal('ambiguous')
    expect(readVoid(flat(10, '9'), 'p-1', { isWhole: true }).kind).to.equal('approved')
    expect(readVoid(flat(2, '100'), 'p-1', { isWhole: true }).kind).to.equal('rejected')
  })
})
