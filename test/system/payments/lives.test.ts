/** The life of a payment over HTTP, through all processes: what merchants see, and what the network has booked of it. */
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import { type ApiAnswer, asOperator, type CreateOptions, testCards } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

type Outcome = readonly [status: number, ...codeAndPaymentStatus: string[]]
type Step = readonly [kind: 'capture' | 'cancel', amount: number | undefined, outcome: Outcome]

/** Longer than a pause of the machine: the request that is in flight is not answered before. */
const WAIT_S = 30
const hold = { capture: false }

const lives: readonly (readonly [name: string, create: CreateOptions, outcome: Outcome, steps: readonly Step[]])[] = [
  ['is captured in one step', {}, [201, 'captured'], []],
  ['is declined', { card: testCards.declined }, [422, 'card_declined', 'failed'], []],
  ['is refused for an expired card', { card: testCards.expired }, [422, 'card_expired', 'failed'], []],
  [
    'is captured as a whole, once',
    hold,
    [201, 'pre_authorized'],
    [
      ['capture', 10_001, [422, 'amount_exceeds_authorized', 'pre_authorized']],
      ['capture', 991, [422, 'provider_rejected', 'pre_authorized']],
      ['capture', undefined, [200, 'captured']],
      ['capture', undefined, [409, 'invalid_state', 'captured']]
    ]
  ],
  [
    'is captured in part, of which no more can be refunded',
    hold,
    [201, 'pre_authorized'],
    [
      ['capture', 4_000, [200, 'captured']],
      ['cancel', 4_001, [422, 'amount_exceeds_refundable', 'captured']],
      ['cancel', undefined, [200, 'refunded']]
    ]
  ],
  [
    'is canceled as a whole, never in part',
    hold,
    [201, 'pre_authorized'],
    [
      ['cancel', 1_000, [400, 'invalid_request', 'pre_authorized']],
      ['cancel', 10_000, [200, 'canceled']]
    ]
  ],
  [
    'is not canceled when the network refuses',
    { ...hold, amount: 992 },
    [201, 'pre_authorized'],
    [['cancel', undefined, [422, 'provider_rejected', 'pre_authorized']]]
  ],
  [
    'is refunded in parts, until nothing is left',
    {},
    [201, 'captured'],
    [
      ['cancel', 992, [422, 'provider_rejected', 'captured']],
      ['cancel', 3_000, [200, 'partially_refunded']],
      ['cancel', 7_001, [422, 'amount_exceeds_refundable', 'partially_refunded']],
      ['cancel', undefined, [200, 'refunded']],
      ['cancel', undefined, [409, 'invalid_state', 'refunded']],
      ['cancel', 1, [422, 'amount_exceeds_refundable', 'refunded']]
    ]
  ]
]

describe('a payment over HTTP', () => {
  const { service, merchant, network } = usePayingService()
  const advance = async (span: string): Promise<void> => {
    expect((await asOperator(service(), 'clock', 'advance', span)).code).to.equal(0)
  }

  /** The status, the code, and the status of the payment, after the ledger was compared. */
  const outcomeOf = async ({ status, error, payment }: ApiAnswer, id = payment.id): Promise<(string | number)[]> => {
    const stored = await merchant.read(error.payment_id ?? id)
    expectLedgerToAgree(network, stored)
    return status < 400 ? [status, stored.status] : [status, error.code, stored.status]
  }

  for (const [name, create, outcome, steps] of lives) {
    it(name, async () => {
      const created = await merchant.create(create)
      const id = created.error.payment_id ?? created.payment.id
      expect(await outcomeOf(created)).to.deep.equal(outcome)
      for (const [kind, amount, expected] of steps) {
        const answer = await merchant[kind](id, amount === undefined ? {} : { amount })
        expect(await outcomeOf(answer, id), `${kind} ${amount}`).to.deep.equal(expected)
      }
    })
  }

  it('whose answer is lost is 202, then as the network has it, and so is its repetition', async () => {
    const create = { token: await merchant.token(testCards.silentlyApproved), key: 'lost-answer' }
    const created = await merchant.create(create)
    expect([created.status, created.payment.status, created.payment.operation.state]).to.deep.equal([
      ...[202, 'unknown'],
      'unknown'
    ])
    const { id } = created.payment
    expectLedgerToAgree(network, await merchant.settled(id, 'captured'))
    expect(await outcomeOf(await merchant.create(create))).to.deep.equal([200, 'captured'])
    const refund = await merchant.cancel(id, { amount: 994 })
    expect([refund.status, refund.payment.status, refund.payment.refunds[0]?.state]).to.deep.equal([
      ...[202, 'refunding'],
      'unknown'
    ])
    const refunded = await merchant.settled(id, 'partially_refunded')
    expect(refunded.refunds.map(({ amount_cents, state }) => [amount_cents, state])).to.deep.equal([[994, 'succeeded']])
    expectLedgerToAgree(network, refunded)
  })

  it('that never arrived stays unknown while it may still arrive, and has failed after the horizon', async () => {
    const create = { token: await merchant.token(), key: 'never-arrived' }
    network.faults({ drop_before: 1 })
    const { id } = (await merchant.create(create)).payment
    network.faults()
    await advance('9m')
    expect((await merchant.read(id)).status).to.equal('unknown')
    await advance('61s')
    expect((await merchant.settled(id, 'failed')).error?.code).to.equal('network_unavailable')
    expect(await outcomeOf(await merchant.create(create))).to.deep.equal([503, 'network_unavailable', 'failed'])
  })

  it('gets the same answer for the same key, also after later changes, and never two charges', async () => {
    const create = { token: await merchant.token(), key: randomUUID(), ...hold }
    const { payment } = await merchant.create(create)
    await merchant.capture(payment.id, { amount: 7_000 })
    const again = await merchant.create(create)
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true'])
    expect(again.payment).to.deep.equal(payment)
    expect((await merchant.create({ ...create, amount: 9_999 })).error.code).to.equal('idempotency_conflict')
    expect(ledgerSumsOf(network, payment.id).sales).to.equal(1)
  })

  it('is captured once by ten requests at once with different keys', async () => {
    const { id } = (await merchant.create(hold)).payment
    network.hold('arrived')
    let answered = 0
    const sent = Array.from({ length: 10 }, () => merchant.capture(id, { waitS: WAIT_S }).finally(() => answered++))
    await until('all others are answered', () => answered >= sent.length - 1)
    network.answerHeld()
    const answers = await Promise.all(sent)
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    expect(answers.filter(({ error }) => error.code === 'invalid_state')).to.have.length(9)
    expect(network.sales(id)[0]?.requests.capture).to.equal(1)
  })

  it('expires after seven days, and its hold is released', async () => {
    const { id } = (await merchant.create(hold)).payment
    // Ten minutes before its end.
    await advance('604200s')
    expect((await merchant.read(id)).status).to.equal('pre_authorized')
    await advance('600s')
    await merchant.settled(id, 'expired')
    await until('the hold is released', () => ledgerSumsOf(network, id).held === 0)
    expect(await outcomeOf(await merchant.capture(id), id)).to.deep.equal([422, 'preauth_expired', 'expired'])
  })

  it('is charged back when the network says so, and no one else', async () => {
    const { id } = (await merchant.create()).payment
    const notification = { PaymentId: network.sales(id)[0]?.paymentId, ChangeType: 7 }
    for (const secret of ['guessed', '']) expect(await network.notify(notification, secret)).to.equal(401)
    expect(await network.notify({ ...notification, ChangeType: null })).to.equal(400)
    await network.chargeBack(id)
    expect((await merchant.settled(id, 'charged_back')).captured_cents).to.equal(10_000)
  })
})
