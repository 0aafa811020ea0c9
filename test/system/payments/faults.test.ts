import { expect } from 'chai'
import type { Faults } from '../../../scripts/simulator/faults.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { type ApiAnswer, asOperator, type PaymentView } from '../../support/merchant.js'
import { NETWORK_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

/**
 * Each row is one way in which the network misbehaves, on every request: the authorisations, captures, voids and
 * refunds that are sent then, and the queries about them. `isBooked`: what was asked for reaches the ledger.
 */
const rows: { name: string; faults: Partial<Faults> | 'stopped'; isBooked: boolean }[] = [
  { name: 'drop_before: cut off, nothing booked', faults: { drop_before: 1 }, isBooked: false },
  { name: 'drop_after: booked, then cut off', faults: { drop_after: 1 }, isBooked: true },
  { name: 'error_before: 500, nothing booked', faults: { error_before: 1 }, isBooked: false },
  { name: 'error_after: booked, then 500', faults: { error_after: 1 }, isBooked: true },
  { name: 'late: booked, answered too late', faults: { late: 1, late_ms: 3 * NETWORK_TIMEOUT_MS }, isBooked: true },
  { name: 'latency: booked after we gave up', faults: { latency_ms: 3 * NETWORK_TIMEOUT_MS }, isBooked: true },
  { name: 'connections are refused', faults: 'stopped', isBooked: false }
]

/** What was begun while the network misbehaved. */
interface Operations<T> {
  readonly create: T
  readonly hold: T
  readonly capture: T
  readonly partCapture: T
  readonly void: T
  readonly refund: T
  readonly partRefund: T
}

/** What becomes of each, when it reaches the ledger in the end. */
const done: Operations<[status: string, captured: number, refunded: number]> = {
  create: ['captured', 10_000, 0],
  hold: ['pre_authorized', 0, 0],
  capture: ['captured', 10_000, 0],
  partCapture: ['captured', 4_000, 0],
  void: ['canceled', 0, 0],
  refund: ['refunded', 10_000, 10_000],
  partRefund: ['partially_refunded', 10_000, 3_000]
}

describe('a network that misbehaves', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()

  const idOf = (answer: ApiAnswer): string => answer.error.payment_id ?? answer.payment.id

  async function prepared(): Promise<(begin: 'now') => Promise<Operations<ApiAnswer>>> {
    const held = (): Promise<string> => merchant.create({ capture: false }).then(idOf)
    const paid = (): Promise<string> => merchant.create().then(idOf)
    const tokens = await Promise.all([merchant.token(), merchant.token()])
    const [a = '', b = '', c = '', d = '', e = ''] = await Promise.all([held(), held(), held(), paid(), paid()])
    const [first = '', second = ''] = tokens
    return async () => {
      const answers = await Promise.all([
        merchant.create({ token: first }),
        merchant.create({ token: second, capture: false }),
        merchant.capture(a),
        merchant.capture(b, { amount: 4_000 }),
        merchant.cancel(c),
        merchant.cancel(d),
        merchant.cancel(e, { amount: 3_000 })
      ])
      const [create, hold, capture, partCapture, voided, refund, partRefund] = answers
      return { create, hold, capture, partCapture, void: voided, refund, partRefund }
    }
  }

  const historyOf = async (id: string): Promise<{ event: string }[]> =>
    (await asOperator(service(), 'payment', 'history', id, '--json')).json() as { event: string }[]

  async function settle(answers: Operations<ApiAnswer>): Promise<[keyof Operations<unknown>, PaymentView][]> {
    const entries = Object.entries(answers) as [keyof Operations<unknown>, ApiAnswer][]
    return await Promise.all(
      entries.map(async ([name, answer]) => [name, await merchant.settled(idOf(answer))] as [typeof name, PaymentView])
    )
  }

  for (const { name, faults, isBooked } of rows.filter(row => row.faults !== 'stopped')) {
    it(`charges, captures and refunds the requested amount once: ${name}`, async () => {
      const begin = await prepared()
      if (faults !== 'stopped') network.faults(faults)
      const answers = await begin('now')
      for (const [operation, answer] of Object.entries(answers)) expect(answer.status, operation).to.equal(202)
      // The queries fail in the same way.
      await until('queries stay without an answer', async () =>
        (await historyOf(idOf(answers.refund))).some(line => line.event === 'NO_ANSWER')
      )
      network.faults()
      if (!isBooked) {
        // An authorisation and a refund that never arrived are only believed not to have after the horizon.
        await until('it is asked about', async () =>
          (await historyOf(idOf(answers.create))).some(line => line.event === 'RECORD_LAGS')
        )
        expect((await merchant.read(idOf(answers.create))).status).to.equal('unknown')
        expect((await merchant.read(idOf(answers.partRefund))).status).to.equal('refunding')
        await asOperator(service(), 'clock', 'advance', '11m')
      }
      for (const [operation, payment] of await settle(answers)) {
        const isLost = !isBooked && (operation === 'create' || operation === 'hold')
        expect([payment.status, payment.captured_cents, payment.refunded_cents], operation).to.deep.equal(
          isLost ? ['failed', 0, 0] : done[operation]
        )
        expectLedgerToAgree(network, payment)
      }
    })
  }

  it('does nothing, and says so: connections are refused', async () => {
    const begin = await prepared()
    await network.stop()
    const answers = await begin('now')
    for (const [operation, { status, error }] of Object.entries(answers) as [string, ApiAnswer][]) {
      expect([status, error.code], operation).to.deep.equal([503, 'network_unavailable'])
    }
    await network.start()
    const statuses = { create: 'failed', hold: 'failed', refund: 'captured', partRefund: 'captured' }
    for (const [operation, payment] of await settle(answers)) {
      expect(payment.status, operation).to.equal({ ...statuses }[operation as 'create'] ?? 'pre_authorized')
      expect(payment.error?.code).to.equal('network_unavailable')
      expectLedgerToAgree(network, payment)
    }
  })
})
