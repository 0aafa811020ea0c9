import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { LedgerSale } from '../../../scripts/simulator/ledger.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { asOperator, testCards } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('a payment whose outcome is not known', () => {
  const { service, merchant, network } = usePayingService()

  const advance = async (span: string): Promise<void> => {
    expect((await asOperator(service(), 'clock', 'advance', span)).code).to.equal(0)
  }

  /** An authorisation that never reaches the network's ledger, nor is known not to have. */
  const lostOnTheWay = async (key: string = randomUUID()): Promise<string> => {
    network.faults({ drop_before: 1 })
    const answer = await merchant.create({ key })
    expect([answer.status, answer.payment.status]).to.deep.equal([202, 'unknown'])
    return answer.payment.id
  }

  const reviewReasonOf = async (id: string): Promise<unknown> => {
    const { json } = await asOperator(service(), 'payment', 'attention', '--json')
    return (json() as { payment_id: string; reason: string }[]).find(row => row.payment_id === id)?.reason
  }

  it('is queried by its order id: the answer and its repetition are 202, then 200', async () => {
    const token = await merchant.token(testCards.silentlyApproved)
    const answer = await merchant.create({ token, key: 'lost-answer' })
    expect([answer.status, answer.payment.status]).to.deep.equal([202, 'unknown'])
    expect(answer.payment.operation).to.include({ kind: 'authorization', state: 'unknown', amount_cents: 10_000 })
    const payment = await merchant.settled(answer.payment.id)
    expect(payment).to.include({ status: 'captured', captured_cents: 10_000 })
    expect(payment.operation.state).to.equal('succeeded')
    expectLedgerToAgree(network, payment)
    const replay = await merchant.create({ token, key: 'lost-answer' })
    expect([replay.status, replay.payment.status, replay.payment.id]).to.deep.equal([200, 'captured', payment.id])
  })

  it('stays unknown while the sale may still arrive, and is failed after the horizon', async () => {
    const token = await merchant.token()
    network.faults({ drop_before: 1 })
    const { payment } = await merchant.create({ token, key: 'never-arrived' })
    network.faults()
    await until('it was asked about', async () =>
      (await historyOf(payment.id)).some(line => line.event === 'RECORD_LAGS')
    )
    expect((await merchant.read(payment.id)).status).to.equal('unknown')
    await advance('9m')
    expect((await merchant.read(payment.id)).status).to.equal('unknown')
    await advance('61s')
    const failed = await merchant.settled(payment.id)
    expect([failed.status, failed.error?.code]).to.deep.equal(['failed', 'network_unavailable'])
    const replay = await merchant.create({ token, key: 'never-arrived' })
    expect([replay.status, replay.error.code]).to.deep.equal([503, 'network_unavailable'])
  })

  it('is queried once more after it failed: a late sale is voided, and listed for manual review', async () => {
    const [model] = network.sales((await merchant.create()).payment.id)
    const id = await lostOnTheWay()
    network.faults()
    await advance('11m')
    await merchant.settled(id, 'failed')
    network.book({ ...(model as LedgerSale), paymentId: randomUUID(), merchantOrderId: id.replaceAll('-', '') })
    await advance('61m')
    await until('the late sale is voided', () => network.sales(id)[0]?.status === 10)
    await until('it is listed for manual review', async () => (await reviewReasonOf(id)) === 'sale_after_failure')
    expect((await merchant.read(id)).status).to.equal('failed')
  })

  const historyOf = async (id: string): Promise<{ event: string }[]> => {
    const { json } = await asOperator(service(), 'payment', 'history', id, '--json')
    return json() as { event: string }[]
  }
})
