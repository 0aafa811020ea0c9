import { expect } from 'chai'
import { type Answer, type MoneyRequest, sendRequest } from '../../../scripts/shop/payment-requests.js'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { refusal, type Step, scriptedApi } from '../../client/scripted-api.js'

const body = {
  amount_cents: 1,
  external_reference: 'o1',
  customer: demoCustomer,
  payment_source: { source_type: 'token', token_id: 'tok_1' }
} as const
const create: MoneyRequest = { kind: 'create', idempotencyKey: 'o1.pay.1', body }
const captured = { id: 'p1', status: 'captured', captured_cents: 1, refunded_cents: 0 }
const refund: MoneyRequest = {
  kind: 'refund',
  idempotencyKey: 'o1.refund.1',
  paymentId: 'p1',
  body: { amount_cents: 1 }
}

async function send(
  steps: readonly Step[],
  request = create
): Promise<{ answer: Answer; sent: string[]; keys: Set<string | undefined> }> {
  const { client, sent } = scriptedApi(steps)
  const answer = await sendRequest(client, request)
  const keys = new Set(sent.flatMap(({ line, headers }) => (/^POST/.test(line) ? headers['idempotency-key'] : [])))
  return { answer, sent: sent.map(({ line }) => line), keys }
}

describe('requests of the shop that move money', () => {
  it('are sent under the key of the order, again after a failure', async () => {
    const { answer, sent, keys } = await send(['cut', [201, captured]])
    expect(answer).to.deep.equal({ kind: 'payment', payment: captured })
    expect(sent).to.deep.equal(['POST /v1/payments', 'POST /v1/payments'])
    expect([...keys]).to.deep.equal(['o1.pay.1'])
    expect((await send([[200, captured]], refund)).sent).to.deep.equal(['POST /v1/payments/p1/cancel'])
  })

  const unclear: readonly (readonly [string, readonly Step[]])[] = [
    ['no answer comes', ['cut']],
    ['the card network gave no clear answer', [[202, { ...captured, status: 'unknown' }, { 'Retry-After': '2' }]]],
    ['a refund is accepted and has not begun', [[202, captured, { 'Retry-After': '2' }]]]
  ]
  for (const [what, steps] of unclear) {
    it(`treat the outcome as unclear when ${what}`, async () => {
      expect((await send(steps)).answer).to.deep.equal({ kind: 'unclear' })
    })
  }

  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'merchant_disabled'],
    [408, 'request_timeout'],
    [429, 'rate_limited']
  ] as const) {
    it(`do not treat ${code} as a refusal: an earlier call with the key may have been accepted`, async () => {
      expect((await send([refusal(status, code)])).answer).to.deep.equal({ kind: 'unclear' })
    })
  }

  for (const [status, code] of [
    [422, 'card_declined'],
    [409, 'invalid_state'],
    [400, 'invalid_request']
  ] as const) {
    it(`treat ${code} as a final refusal`, async () => {
      const { answer, sent } = await send([refusal(status, code)])
      expect(answer).to.deep.equal({ kind: 'refused', code, payment: null })
      expect(sent).to.have.length(1)
    })
  }

  const rejected = refusal(422, 'provider_rejected', { payment_id: 'p1' })

  it('read the payment that a refusal names: its amount may be held', async () => {
    const { answer } = await send([rejected, [200, { ...captured, status: 'pre_authorized' }]])
    expect(answer).to.have.nested.property('payment.status', 'pre_authorized')
    expect(answer).to.include({ kind: 'refused', code: 'provider_rejected' })
  })

  it('treat a refusal as unclear while that payment cannot be read', async () => {
    expect((await send([rejected, 'cut'])).answer).to.deep.equal({ kind: 'unclear' })
  })
})
