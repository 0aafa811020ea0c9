import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import { type ApiAnswer, asOperator, type PaymentView } from '../../support/merchant.js'
import { NETWORK_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

/** Longer than the workers wait: every call in flight is in doubt. */
const LATENCY_MS = 1.6 * NETWORK_TIMEOUT_MS

describe('a worker that is killed in the middle of a call', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()

  const held = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id
  const paid = async (): Promise<string> => (await merchant.create()).payment.id

  /** How each operation begins, when the network has booked it, and how it ends. */
  const rows = [
    {
      name: 'authorisation',
      prepare: async () => '',
      begin: async () => (await merchant.create({ waitS: 0 })).payment.id,
      isBooked: (id: string) => ledgerSumsOf(network, id).sales > 0,
      ends: ['captured', 10_000, 0]
    },
    {
      name: 'pre-authorisation',
      prepare: async () => '',
      begin: async () => (await merchant.create({ waitS: 0, capture: false })).payment.id,
      isBooked: (id: string) => ledgerSumsOf(network, id).sales > 0,
      ends: ['pre_authorized', 0, 0]
    },
    {
      name: 'capture',
      prepare: held,
      begin: async (id: string) => (await merchant.capture(id, { waitS: 0, amount: 4_000 })).payment.id,
      isBooked: (id: string) => ledgerSumsOf(network, id).captured > 0,
      ends: ['captured', 4_000, 0]
    },
    {
      name: 'cancellation',
      prepare: held,
      begin: async (id: string) => (await merchant.cancel(id, { waitS: 0 })).payment.id,
      isBooked: (id: string) => ledgerSumsOf(network, id).held === 0,
      ends: ['canceled', 0, 0]
    },
    {
      name: 'refund of a part',
      prepare: paid,
      begin: async (id: string) => (await merchant.cancel(id, { waitS: 0, amount: 3_000 })).payment.id,
      isBooked: (id: string) => ledgerSumsOf(network, id).refunded > 0,
      ends: ['partially_refunded', 10_000, 3_000]
    }
  ] as const

  for (const moment of ['before', 'after'] as const) {
    it(`${moment} the booking, loses nothing and does nothing twice: all operations`, async () => {
      const prepared: string[] = []
      for (const row of rows) prepared.push(await row.prepare())
      network.hold(moment === 'before' ? 'arrived' : 'booked')
      const ids = await Promise.all(rows.map((row, index) => row.begin(prepared[index] ?? '')))
      const booked = (): number => rows.filter((row, index) => row.isBooked(ids[index] ?? '')).length
      // A query about a payment of an earlier test may be held, too.
      await until(
        'all calls are under way',
        () => network.held >= rows.length && (moment === 'before' || booked() === rows.length)
      )
      expect(booked(), `${moment} the booking`).to.equal(moment === 'after' ? rows.length : 0)
      expect(service().kill('payments')).to.equal(2)
      network.answerHeld()
      for (const [index, { name, ends, isBooked }] of rows.entries()) {
        const id = ids[index] ?? ''
        const payment = await merchant.settled(id)
        expect([payment.status, payment.captured_cents, payment.refunded_cents], name).to.deep.equal(ends)
        await until(`${name} is booked`, () => isBooked(id))
        expectLedgerToAgree(network, payment)
        const [sale] = network.sales(id)
        expect(sale?.requests.authorise, `authorisations of the ${name}`).to.equal(1)
      }
      await service().untilReady()
    })
  }

  it('releases the hold of an expired payment all the same', async () => {
    const id = await held()
    network.hold('arrived', '/void')
    await asOperator(service(), 'clock', 'advance', '8d')
    await until('the void is under way', () => network.held > 0)
    expect((await merchant.read(id)).status).to.equal('expired')
    expect(ledgerSumsOf(network, id).held, 'still held').to.equal(10_000)
    service().kill('payments')
    network.cutHeld()
    await until('the hold is released', () => ledgerSumsOf(network, id).held === 0)
    await service().untilReady()
  })

  it('is replaced by another one within seconds: the command is redelivered and reconciled', async () => {
    network.hold('booked')
    const { id } = (await merchant.create({ waitS: 0 })).payment
    await until('it is booked', () => ledgerSumsOf(network, id).sales === 1)
    service().kill('payments')
    network.answerHeld()
    await merchant.settled(id, 'captured', 5_000)
    const { out } = await asOperator(service(), 'payment', 'history', id)
    expect(out).to.match(/RESUMED +unknown/)
    await service().untilReady()
  })

  it('and all others with it, in order: a restart of everything goes on where it was', async () => {
    network.faults({ latency_ms: LATENCY_MS })
    const begun = await Promise.all(Array.from({ length: 10 }, () => merchant.create({ waitS: 0 })))
    await service().restart()
    network.faults()
    const ids = begun.map(({ payment }) => payment.id)
    const isBooked = (id: string): boolean => network.sales(id).length > 0
    for (const id of ids.filter(isBooked)) await merchant.settled(id, 'captured')
    // What the network has not booked by then is surely absent when the horizon is over.
    await asOperator(service(), 'clock', 'advance', '11m')
    for (const id of ids) {
      const payment = await merchant.settled(id)
      expect(payment.status).to.equal(isBooked(id) ? 'captured' : 'failed')
      expectLedgerToAgree(network, payment)
    }
  })
})

/** Payments of the burst, and how many the merchant has under way at a time. */
const BURST = 450
const CLIENTS = 40
const RETRY_MS = 100

describe('a burst of payments while processes are killed', function () {
  this.timeout(180_000)
  const { service, merchant, network } = usePayingService()

  /** As a merchant should: the same request with the same key, after a pause, until there is an answer. */
  async function insist(token: string, key: string): Promise<ApiAnswer> {
    return await until(
      'the API answers',
      async () => {
        const answer = await merchant.create({ token, key, waitS: 5 }).catch(() => null)
        if (answer !== null && answer.status !== 409 && answer.status !== 503) return answer
        await delay(RETRY_MS)
        return undefined
      },
      60_000
    )
  }

  it(`charges each of ${BURST} buyers once, and none stays without an end`, async () => {
    const victims = ['payments.1', 'api', 'payments.2', 'payments', 'api', 'timers', 'payments.1', 'notifications']
    const answers: ApiAnswer[] = []
    let begun = 0
    const client = async (): Promise<void> => {
      while (begun < BURST) {
        begun++
        answers.push(await insist(await until('a token', () => merchant.token().catch(() => undefined)), randomUUID()))
        const victim = answers.length % 50 === 0 ? victims.shift() : undefined
        if (victim !== undefined) service().kill(victim)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    await service().untilReady()
    expect(victims).to.have.length(0)

    await asOperator(service(), 'clock', 'advance', '11m')
    const payments: PaymentView[] = []
    for (const answer of answers) payments.push(await merchant.settled(answer.error.payment_id ?? answer.payment.id))
    expect(new Set(payments.map(payment => payment.id)).size).to.equal(BURST)
    for (const payment of payments) expectLedgerToAgree(network, payment)
    const ended = payments.map(payment => payment.status)
    expect(ended.filter(status => status === 'captured' || status === 'failed')).to.have.length(BURST)
    expect(ended.filter(status => status === 'captured').length).to.be.above(BURST * 0.9)
  })
})
