import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { LedgerSale } from '../../../scripts/simulator/ledger.js'
import { until } from '../../support/conditions.js'
import { type ApiAnswer, asOperator, type PaymentView } from '../../support/merchant.js'
import { type PayingService, usePayingService } from '../../support/paying-service.js'

const unfinished = { status: 0 }
const held = { status: 1, capturedAmount: 0, voidedAmount: 0 }
const captured = { status: 2, capturedAmount: 10_000, capturedAtMs: Date.now() }
const denied = { status: 3 }
const undone = { status: 10, voidedAmount: 10_000, voidedAtMs: Date.now() }

describe('an acquirer record that says something unexpected', function () {
  this.timeout(60_000)
  const paying = usePayingService()
  const { merchant, network } = paying

  const { hold, paid, rewrite, doubtful, onOne, isListed, wasFound } = tampering(paying)

  /** What the record says first, what the payment does about it, what it says then, and how it ends. */
  const rows: {
    name: string
    begin: () => Promise<string>
    first: Partial<LedgerSale>
    event: string
    stays?: string
    later?: Partial<LedgerSale>
    ends: Partial<PaymentView>
    listed: boolean
  }[] = [
    {
      name: 'a capture, and the sale was undone',
      begin: () => onOne(hold, id => merchant.capture(id)),
      first: undone,
      event: 'SALE_GONE',
      ends: { status: 'canceled', captured_cents: 0 },
      listed: true
    },
    {
      name: 'a capture, and the sale was denied',
      begin: () => onOne(hold, id => merchant.capture(id)),
      first: denied,
      event: 'CONTRADICTED',
      stays: 'capturing',
      later: captured,
      ends: { status: 'captured', captured_cents: 10_000 },
      listed: true
    },
    {
      name: 'a cancellation, and the sale was captured',
      begin: () => onOne(hold, id => merchant.cancel(id)),
      first: captured,
      event: 'CONTRADICTED',
      // The void that is in doubt arrives after all, and gives everything back.
      stays: 'cancelling',
      later: undone,
      ends: { status: 'canceled', captured_cents: 0 },
      listed: true
    },
    {
      name: 'a cancellation that the network has not finished',
      begin: () => onOne(hold, id => merchant.cancel(id)),
      first: unfinished,
      event: 'RECORD_LAGS',
      stays: 'cancelling',
      later: undone,
      ends: { status: 'canceled' },
      listed: false
    },
    {
      name: 'a refund of a part, and all was undone',
      begin: () => onOne(paid, id => merchant.cancel(id, { amount: 3_000 })),
      first: undone,
      event: 'OPERATION_BOOKED',
      ends: { status: 'partially_refunded', refunded_cents: 3_000 },
      listed: true
    },
    {
      name: 'a refund, and nothing was captured',
      begin: () => onOne(paid, id => merchant.cancel(id)),
      first: held,
      event: 'CONTRADICTED',
      stays: 'refunding',
      later: { ...captured, ...undone },
      ends: { status: 'refunded', refunded_cents: 10_000 },
      listed: true
    },
    {
      name: 'an authorisation that was undone',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: undone,
      event: 'SALE_GONE',
      ends: { status: 'failed', captured_cents: 0 },
      listed: false
    },
    {
      name: 'an authorisation that the network has not finished',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: unfinished,
      event: 'RECORD_LAGS',
      stays: 'unknown',
      later: captured,
      ends: { status: 'captured' },
      listed: false
    },
    {
      name: 'an authorisation with capture that is only authorised',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: held,
      event: 'SALE_AUTHORISED',
      ends: { status: 'captured', captured_cents: 10_000 },
      listed: false
    }
  ]

  for (const { name, begin, first, event, stays, later, ends, listed } of rows) {
    it(`are not accepted blindly: ${name}`, async () => {
      const id = await begin()
      rewrite(id, first)
      network.faults()
      await until(`${event} is seen`, () => wasFound(id, event))
      if (stays !== undefined) expect((await merchant.read(id)).status).to.equal(stays)
      if (later !== undefined) rewrite(id, later)
      expect(await merchant.settled(id, ends.status)).to.include(ends)
      expect(await isListed(id, 'figures_differ')).to.equal(listed)
    })
  }
})

describe('an acquirer record that changes after the end of a payment', function () {
  this.timeout(60_000)
  const paying = usePayingService()
  const { service, merchant, network } = paying
  const { hold, paid, rewrite, saleOf, doubtful, onOne, isListed, wasFound } = tampering(paying)

  it('end as captured when the hold of an expired payment is captured by hand', async () => {
    const id = await hold()
    network.faults({ error_before: 1 })
    await asOperator(service(), 'clock', 'advance', '8d')
    await merchant.settled(id, 'expired')
    rewrite(id, captured)
    network.faults()
    // A worker that has not heard of the new time yet counts the horizon from the end of the window: a day ago.
    await until('they are read', () => wasFound(id, /CONTRADICTED|SALE_CAPTURED/))
    await asOperator(service(), 'clock', 'advance', '11m')
    const { captured_cents } = await merchant.settled(id, 'captured')
    expect([captured_cents, network.sales(id)[0]?.voidedAmount]).to.deep.equal([10_000, 0])
    expect(await isListed(id, 'figures_differ')).to.equal(true)
  })

  it('end as captured when a hold whose window ends is captured by hand: a void would refund it', async () => {
    const id = await hold()
    rewrite(id, captured)
    await asOperator(service(), 'clock', 'advance', '8d')
    const { captured_cents } = await merchant.settled(id, 'captured')
    expect([captured_cents, network.sales(id)[0]?.requests.void]).to.deep.equal([10_000, 0])
    expect(await isListed(id, 'figures_differ')).to.equal(true)
  })

  it('end as captured when a hold whose cancellation never arrives is captured by hand', async () => {
    const id = await onOne(hold, held => merchant.cancel(held))
    rewrite(id, captured)
    network.faults()
    await until('they are read', () => wasFound(id, 'CONTRADICTED'))
    await asOperator(service(), 'clock', 'advance', '11m')
    expect(await merchant.settled(id, 'captured')).to.include({ captured_cents: 10_000 })
    expect(saleOf(id).voidedAmount).to.equal(0)
  })

  it('are taken over as soon as the network reports them', async () => {
    const id = await hold()
    rewrite(id, { ...captured, capturedAmount: 4_000 })
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 1 })
    expect(await merchant.settled(id, 'captured')).to.include({ captured_cents: 4_000 })
  })

  for (const [status, make] of [
    ['captured', paid],
    ['pre_authorized', hold]
  ] as const) {
    it(`give the buyer back a second sale of a payment that is ${status}`, async () => {
      const id = await make()
      const second = { ...saleOf(id), paymentId: randomUUID() }
      network.book(second)
      await network.notify({ PaymentId: second.paymentId, ChangeType: 1 })
      await until('it is voided', () => network.sales(id)[1]?.status === 10)
      expect(network.sales(id)[0]?.voidedAmount).to.equal(0)
      expect((await merchant.read(id)).status).to.equal(status)
      await until('it is listed for manual review', () => isListed(id, 'duplicate_sale'))
    })
  }

  it('are waited for when a chargeback is reported before they show it', async () => {
    const id = await paid()
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 7 })
    await until('they are read', () => wasFound(id, 'RECORD_LAGS'))
    rewrite(id, { chargebackCase: '1' })
    await merchant.settled(id, 'charged_back')
  })

  it('undo a refund that was denied after all, and the rest can be refunded', async () => {
    const id = await paid()
    await merchant.cancel(id)
    rewrite(id, { status: 2, voidedAmount: 0 })
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 5 })
    await until('they are read', () => wasFound(id, 'RECORD_LAGS'))
    // Until then they may just be behind.
    expect(await merchant.read(id)).to.include({ status: 'refunded', refunded_cents: 10_000 })
    await asOperator(service(), 'clock', 'advance', '11m')
    expect(await merchant.settled(id, 'captured')).to.include({ refunded_cents: 0 })
    expect((await merchant.cancel(id, { amount: 4_000 })).payment).to.include({ refunded_cents: 4_000 })
  })

  it('do not count money refunded outside this service as the refund that got lost', async () => {
    const id = await paid()
    rewrite(id, { voidedAmount: 3_000, voidedAtMs: Date.now() })
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 25 })
    await until('it is listed', () => isListed(id, 'figures_differ'))
    await doubtful(() => merchant.cancel(id, { amount: 3_000 }), 'drop_before')
    network.faults()
    await until('they are compared', () => wasFound(id, /RECORD_LAGS +refunding/))
    expect((await merchant.read(id)).status).to.equal('refunding')
    await asOperator(service(), 'clock', 'advance', '11m')
    expect(await merchant.settled(id, 'partially_refunded')).to.include({ refunded_cents: 3_000 })
    expect(saleOf(id).voidedAmount).to.equal(6_000)
  })

  it('leave the rest of a refund from outside the service to be refunded', async () => {
    const id = await paid()
    rewrite(id, { voidedAmount: 3_000, voidedAtMs: Date.now() })
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 25 })
    await until('it is listed', () => isListed(id, 'figures_differ'))
    expect((await merchant.cancel(id, { amount: 7_001 })).error.code).to.equal('amount_exceeds_refundable')
    expect((await merchant.cancel(id)).payment).to.include({ status: 'refunded', refunded_cents: 7_000 })
    expect(saleOf(id).voidedAmount).to.equal(10_000)
  })

  it('correct what was captured, and by that what can be refunded', async () => {
    const id = await paid()
    await merchant.cancel(id, { amount: 1_000 })
    rewrite(id, { capturedAmount: 6_000 })
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: 25 })
    await until('it is listed', () => isListed(id, 'figures_differ'))
    expect(await merchant.read(id)).to.include({ status: 'partially_refunded', captured_cents: 6_000 })
    expect((await merchant.cancel(id)).payment).to.include({ status: 'refunded', refunded_cents: 6_000 })
    expect(saleOf(id).voidedAmount).to.equal(6_000)
  })

  it('cost nothing when a late hold turns up after the failure', async () => {
    const [model] = network.sales(await hold())
    const id = await doubtful(() => merchant.create({ capture: false }), 'drop_before')
    network.faults()
    await asOperator(service(), 'clock', 'advance', '11m')
    await merchant.settled(id, 'failed')
    if (model !== undefined) {
      network.book({ ...model, ...held, paymentId: randomUUID(), merchantOrderId: id.replaceAll('-', '') })
    }
    await asOperator(service(), 'clock', 'advance', '61m')
    await until('the late hold is voided', () => network.sales(id)[0]?.status === 10)
    await until('it is listed for manual review', () => isListed(id, 'sale_after_failure'))
  })
})

/** What a test does to a payment, and to its sale behind the back of the service. */
function tampering({ service, merchant, network }: PayingService) {
  const hold = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id
  const paid = async (): Promise<string> => (await merchant.create()).payment.id
  const saleOf = (id: string): LedgerSale => {
    const [sale] = network.sales(id)
    if (sale === undefined) throw new Error(`${id} has no sale`)
    return sale
  }
  const rewrite = (id: string, changes: Partial<LedgerSale>): void => network.book({ ...saleOf(id), ...changes })
  /** Begins an operation whose answer, and all answers to queries about it, are lost. */
  const doubtful = async (begin: () => Promise<ApiAnswer>, fault: 'drop_before' | 'drop_after'): Promise<string> => {
    network.faults({ [fault]: 1 })
    const answer = await begin()
    expect(answer.status).to.equal(202)
    return answer.payment.id
  }
  const onOne = async (make: () => Promise<string>, begin: (id: string) => Promise<ApiAnswer>): Promise<string> => {
    const id = await make()
    return await doubtful(() => begin(id), 'drop_before')
  }
  const isListed = async (id: string, reason: string): Promise<boolean> =>
    (await asOperator(service(), 'payment', 'attention')).out.includes(`${id}  ${reason}`)
  const wasFound = async (id: string, event: string | RegExp): Promise<boolean> =>
    new RegExp(event).test((await asOperator(service(), 'payment', 'history', id)).out)
  return { hold, paid, rewrite, saleOf, doubtful, onOne, isListed, wasFound }
}
