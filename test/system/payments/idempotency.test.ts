import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import type { ApiAnswer } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

/** Longer than a pause of the machine: the request that is under way is not answered before. */
const WAIT_S = 30

describe('a repeated request', () => {
  const { merchant, network } = usePayingService()
  const seen = (answer: ApiAnswer): (string | number | boolean)[] =>
    answer.status < 400
      ? [answer.status, answer.payment.status]
      : [answer.status, answer.error.code, answer.error.retryable]

  /** Sends `count` requests at once, of which one gets to the network, and is answered when all others are. */
  const whileOneIsUnderWay = async (count: number, send: () => Promise<ApiAnswer>): Promise<ApiAnswer[]> => {
    network.hold('arrived')
    let answered = 0
    const sent = Array.from({ length: count }, () => send().finally(() => answered++))
    await until('all others are answered', () => answered >= count - 1)
    network.answerHeld()
    return await Promise.all(sent)
  }

  it('of a finished create gets the first result, also its error, and never charges again', async () => {
    const [token, key] = [await merchant.token(), randomUUID()]
    const first = await merchant.create({ token, key })
    const again = await merchant.create({ token, key })
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true'])
    expect(again.payment).to.deep.equal(first.payment)
    const other = await merchant.create({ token, key, amount: 9_999 })
    expect(seen(other)).to.deep.equal([409, 'idempotency_conflict', false])
    expect(ledgerSumsOf(network, first.payment.id).sales).to.equal(1)
  })

  it('gets the original result, after any later change of the payment', async () => {
    const create = { token: await merchant.token(), key: randomUUID(), capture: false }
    const created = await merchant.create(create)
    const { id } = created.payment
    const [capture, refund] = [
      { amount: 7_000, key: randomUUID() },
      { amount: 100, key: randomUUID() }
    ]
    const captured = await merchant.capture(id, capture)
    const refunded = await merchant.cancel(id, refund)
    await merchant.cancel(id)
    expect((await merchant.create(create)).payment)
      .to.deep.equal(created.payment)
      .and.include({ status: 'pre_authorized' })
    expect((await merchant.capture(id, capture)).payment).to.deep.equal(captured.payment)
    expect((await merchant.cancel(id, refund)).payment)
      .to.deep.equal(refunded.payment)
      .and.include({ refunded_cents: 100 })
    expect(await merchant.read(id)).to.include({ status: 'refunded', refunded_cents: 7_000 })
  })

  it('of a create in progress gets 409, then the result', async () => {
    network.hold('arrived')
    const [token, key] = [await merchant.token(), randomUUID()]
    const first = await merchant.create({ token, key, waitS: 0 })
    expect(seen(first)).to.deep.equal([202, 'pending'])
    expect(seen(await merchant.create({ token, key }))).to.deep.equal([409, 'idempotency_in_progress', true])
    network.answerHeld()
    await merchant.settled(first.payment.id)
    expect(seen(await merchant.create({ token, key }))).to.deep.equal([200, 'captured'])
  })

  it('sent five times at once is accepted once', async () => {
    const [token, key] = [await merchant.token(), randomUUID()]
    const answers = await whileOneIsUnderWay(5, () => merchant.create({ token, key, waitS: WAIT_S }))
    expect(answers.filter(answer => answer.status === 201)).to.have.length(1)
    expect(answers.filter(answer => [409, 201].includes(answer.status))).to.have.length(5)
    const ids = new Set(answers.map(answer => answer.error.payment_id ?? answer.payment.id))
    expect([...ids]).to.have.length(1)
    expect(ledgerSumsOf(network, [...ids][0] ?? '').sales).to.equal(1)
  })

  it('wins once among ten captures with different keys', async () => {
    const { id } = (await merchant.create({ capture: false })).payment
    const answers = await whileOneIsUnderWay(10, () => merchant.capture(id, { waitS: WAIT_S }))
    expect(answers.filter(answer => answer.status === 200)).to.have.length(1)
    expect(answers.filter(answer => answer.error.code === 'invalid_state')).to.have.length(9)
    expect(network.sales(id)[0]?.requests.capture).to.equal(1)
  })

  it('never refunds more than was paid, among refunds with different keys', async () => {
    const { id } = (await merchant.create()).payment
    await Promise.all(Array.from({ length: 6 }, () => merchant.cancel(id, { amount: 3_000 })))
    for (let i = 0; i < 4; i++) await merchant.cancel(id, { amount: 3_000 })
    const payment = await merchant.settled(id)
    expect(payment).to.include({ status: 'partially_refunded', refunded_cents: 9_000 })
    expectLedgerToAgree(network, payment)
  })
})
