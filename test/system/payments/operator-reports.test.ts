/** The sums of reports are those of the payments that merchants see. */
import { expect } from 'chai'
import { asOperator, testCards } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

interface Line {
  readonly type: 'capture' | 'refund' | 'chargeback'
  readonly payment_id: string
  readonly amount_cents: number
}

describe('reports of an operator', () => {
  const { service, merchant, network } = usePayingService()

  it('add up to the records of payments with refunds, captures in part and chargebacks', async () => {
    const paid = async (): Promise<string> => (await merchant.create()).payment.id
    const [plain, refunded, disputed, wholly] = [await paid(), await paid(), await paid(), await paid()]
    await merchant.cancel(refunded, { amount: 1_000 })
    await merchant.cancel(refunded, { amount: 2_000 })
    await merchant.cancel(disputed, { amount: 500 })
    await merchant.cancel(wholly)
    await network.chargeBack(disputed)
    await merchant.settled(disputed, 'charged_back')
    const held = (await merchant.create({ capture: false })).payment.id
    await merchant.capture(held, { amount: 4_000 })
    await merchant.create({ card: testCards.declined })
    const ids = [plain, refunded, disputed, wholly, held]

    const [day = ''] = (await merchant.read(plain)).created_at.split('T')
    const tomorrow = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    const { out } = await asOperator(service(), 'report', 'settlement', '--from', day, '--to', tomorrow, '--json')
    const lines = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    const sumOf = (id: string, type: Line['type']): number =>
      lines
        .filter(line => line.payment_id === id && line.type === type)
        .reduce((sum, line) => sum + line.amount_cents, 0)
    for (const id of ids) {
      const payment = await merchant.read(id)
      expect(sumOf(id, 'capture'), id).to.equal(payment.captured_cents)
      expect(sumOf(id, 'refund'), id).to.equal(payment.refunded_cents)
      expect(sumOf(id, 'chargeback'), id).to.equal(id === disputed ? 9_500 : 0)
    }
    expect(lines.filter(line => line.payment_id === refunded)).to.have.lengthOf(3)

    const daily = (await asOperator(service(), 'report', 'daily', '--on', day, '--json')).json() as {
      status: string
      captured_cents: number
      refunded_cents: number
    }[]
    const disputes = daily.filter(({ status }) => status === 'charged_back')
    expect(disputes.reduce((sum, row) => sum + row.captured_cents - row.refunded_cents, 0)).to.be.at.least(9_500)
  })
})
