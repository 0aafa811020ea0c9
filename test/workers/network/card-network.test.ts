/** The adapter against the simulator: every test card, every misbehaving amount, every fault, and the ledger after each. */

import { expect } from 'chai'
import { testCards } from '../../../machines/test-cards.js'
import { NO_FAULTS } from '../../../scripts/simulator/faults.js'
import type { LedgerSale } from '../../../scripts/simulator/ledger.js'
import type { Simulator } from '../../../scripts/simulator/simulator.js'
import { createCardNetwork, networkOver } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import type { Transport } from '../../../workers/network/transport.js'
import { networkConfig, purchase, startTestSimulator } from '../../support/card-network.js'

const ORDER = '0193b4f0c7a87000a000000000000001'

describe('the card network adapter', () => {
  let simulator: Simulator
  let network: ReturnType<typeof createCardNetwork>

  beforeEach(async () => {
    simulator = await startTestSimulator()
    network = createCardNetwork(networkConfig(simulator.url))
  })

  afterEach(async () => {
    await network.close()
    await simulator.stop()
  })

  function authorise(capture: boolean, cardNumber = '4024007153760060', amountCents = 10_000, brand = 'visa') {
    return network.authorise(purchase({ orderId: ORDER, capture, amountCents, brand }, cardNumber), endlessLease)
  }

  /** The only sale in the ledger. */
  function sale(): LedgerSale {
    const [only, ...more] = simulator.ledger.ofOrder(ORDER)
    if (only === undefined || more.length > 0) throw new Error(`There are ${more.length} sales beside one or none.`)
    return only
  }

  function figures() {
    const { status, amount, capturedAmount, voidedAmount } = sale()
    return { status, amount, capturedAmount, voidedAmount }
  }

  describe('with the test cards', () => {
    const codes: Record<string, string> = { '2': '05', '3': '57', '5': '78', '7': '77', '8': '70' }
    for (const { number, brand, outcome } of testCards) {
      for (const capture of [true, false]) {
        it(`${capture ? 'captures' : 'authorises'} with ${number} (${brand}): ${outcome}`, async () => {
          const digit = number.slice(-1)
          const result = await authorise(capture, number, 10_000, brand)
          const isApproved = '0149'.includes(digit)
          if ('69'.includes(digit)) expect(result.kind).to.equal('ambiguous')
          else if (isApproved) expect(result).to.include({ kind: 'approved', isCaptured: capture })
          else expect(result).to.include({ kind: 'declined', code: codes[digit] })

          const [status, words] = isApproved ? (capture ? [2, 'captured'] : [1, 'authorised']) : [3, 'denied']
          const capturedCents = status === 2 ? 10_000 : 0
          expect(figures()).to.deep.equal({ status, amount: 10_000, capturedAmount: capturedCents, voidedAmount: 0 })
          const found = await network.query(ORDER, endlessLease)
          expect(found).to.have.nested.property('sales.length', 1)
          expect(found).to.have.nested.include({ 'sales[0].status': words, 'sales[0].capturedCents': capturedCents })
        })
      }
    }
  })

  describe('with the amounts that misbehave', () => {
    it('has a capture of 991 rejected, the sale untouched', async () => {
      await authorise(false)
      expect(await network.capture(sale().paymentId, 991, endlessLease)).to.deep.equal({
        kind: 'rejected',
        code: '842'
      })
      expect(figures()).to.include({ status: 1, capturedAmount: 0 })
      expect(sale().requests).to.deep.equal({ authorise: 1, capture: 1, void: 0 })
    })

    it('has a refund of 992 and a cancel of 992 rejected, the sale untouched', async () => {
      await authorise(true)
      expect(await network.void(sale().paymentId, 992, endlessLease)).to.deep.equal({ kind: 'rejected', code: '100' })
      expect(figures()).to.include({ status: 2, voidedAmount: 0 })
    })

    it('loses the answer to a capture of 993, which was done', async () => {
      await authorise(false)
      expect((await network.capture(sale().paymentId, 993, endlessLease)).kind).to.equal('ambiguous')
      expect(figures()).to.include({ status: 2, capturedAmount: 993 })
    })

    it('loses the answer to a refund of 994, which was done once', async () => {
      await authorise(true)
      expect((await network.void(sale().paymentId, 994, endlessLease)).kind).to.equal('ambiguous')
      expect(figures()).to.include({ status: 2, voidedAmount: 994 })
      expect(sale().requests.void).to.equal(1)
    })
  })

  describe('in the ordinary course', () => {
    it('captures a part, refunds in parts, then the rest', async () => {
      await authorise(false)
      const { paymentId } = sale()
      expect(await network.capture(paymentId, 8_000, endlessLease)).to.have.nested.include({
        kind: 'approved',
        'references.saleId': paymentId
      })
      expect((await network.void(paymentId, 3_000, endlessLease)).kind).to.equal('approved')
      expect((await network.void(paymentId, 5_000, endlessLease)).kind).to.equal('approved')
      expect(figures()).to.deep.equal({ status: 10, amount: 10_000, capturedAmount: 8_000, voidedAmount: 8_000 })
      expect(await network.query(ORDER, endlessLease)).to.have.nested.include({
        'sales[0].status': 'voided',
        'sales[0].voidedCents': 8_000
      })
    })

    it('treats a wrong state as unproven, and an amount above the balance as refused', async () => {
      await authorise(true)
      const { paymentId } = sale()
      expect((await network.capture(paymentId, 10_000, endlessLease)).kind).to.equal('unproven')
      expect(await network.void(paymentId, 10_001, endlessLease)).to.deep.equal({ kind: 'rejected', code: '102' })
      await network.void(paymentId, null, endlessLease)
      expect((await network.void(paymentId, 1, endlessLease)).kind).to.equal('unproven')
    })

    it('finds all sales of an order, and the order of a sale', async () => {
      expect(await network.query(ORDER, endlessLease)).to.deep.equal({ kind: 'absent' })
      await authorise(true)
      const first = sale().paymentId
      await authorise(true)
      const found = await network.query(ORDER, endlessLease)
      expect(found).to.have.nested.include({ 'sales.length': 2, 'sales[0].references.saleId': first })
      expect(await network.findOrderId(first, endlessLease)).to.equal(ORDER)
      expect(await network.findOrderId('../sales', endlessLease)).to.equal(null)
    })

    it('treats refused credentials as unproven, and learns nothing', async () => {
      const stranger = createCardNetwork(networkConfig(simulator.url, { networkMerchantKey: 'wrong' }))
      expect((await stranger.authorise(purchase(), endlessLease)).kind).to.equal('unproven')
      expect((await stranger.query(ORDER, endlessLease)).kind).to.equal('no_answer')
      await stranger.close()
    })

    it('does not send a brand that the network does not know', async () => {
      const result = await authorise(true, undefined, 100, 'unionpay')
      expect(result).to.deep.equal({ kind: 'rejected', code: 'brand_not_supported' })
      expect([...simulator.ledger.sales()]).to.be.empty
    })
  })

  it('ignores an answer about another order', async () => {
    const list = JSON.stringify({ Payments: [{ PaymentId: 'p-1' }] })
    const sale = JSON.stringify({ MerchantOrderId: 'other', Payment: { PaymentId: 'p-1', Status: 3, Amount: 100 } })
    const transport: Transport = {
      send: ({ path }) => Promise.resolve({ kind: 'answered', status: 200, text: path.includes('?') ? list : sale }),
      close: () => Promise.resolve()
    }
    const mixedUp = networkOver(transport, transport, networkConfig(simulator.url))
    expect((await mixedUp.query(ORDER, endlessLease)).kind).to.equal('no_answer')
    expect((await mixedUp.query('other', endlessLease)).kind).to.equal('found')
  })

  describe('with faults', () => {
    const booked = {
      throttle: 0,
      gateway_down: 0,
      drop_before: 0,
      drop_after: 1,
      error_before: 0,
      error_after: 1,
      late: 1
    }
    for (const [fault, sales] of Object.entries(booked)) {
      it(`calls every operation ambiguous under ${fault}, ${sales ? 'done once' : 'not done'}`, async () => {
        await authorise(false)
        const { paymentId } = sale()
        const hurried = createCardNetwork(
          networkConfig(simulator.url, { networkAuthoriseTimeoutMs: 400, networkTimeoutMs: 400 })
        )
        simulator.faults = { ...NO_FAULTS, late_ms: 60_000, [fault]: 1 }
        const other = purchase({ orderId: 'other' })
        expect((await hurried.authorise(other, endlessLease)).kind).to.equal('ambiguous')
        expect((await hurried.capture(paymentId, 700, endlessLease)).kind).to.equal('ambiguous')
        expect((await hurried.query(ORDER, endlessLease)).kind).to.equal('no_answer')
        expect(await hurried.findOrderId(paymentId, endlessLease)).to.equal(null)
        expect(simulator.ledger.ofOrder('other')).to.have.length(sales)
        expect(figures()).to.include({ status: sales ? 2 : 1, capturedAmount: sales ? 700 : 0 })
        expect(sale().requests).to.deep.equal({ authorise: 1, capture: sales, void: 0 })
        await hurried.close()
      })
    }

    it('waits for a latency within its time', async () => {
      simulator.faults = { ...NO_FAULTS, latency_ms: 20 }
      expect((await authorise(true)).kind).to.equal('approved')
    })

    it('reports a network that is not there as not sent', async () => {
      await simulator.stop()
      expect(await authorise(true)).to.deep.equal({ kind: 'not_sent', reason: 'ECONNREFUSED' })
      expect((await network.query(ORDER, endlessLease)).kind).to.equal('no_answer')
    })
  })
})
