import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { LedgerSale } from '../../../scripts/network/ledger.js'
import { until } from '../../support/conditions.js'
import { type ApiAnswer, operate, type PaymentView } from '../../support/merchant.js'
import { type PayingService, usePayingService } from '../../support/paying-service.js'

const unfinished = { status: 0 }
const held = { status: 1, capturedAmount: 0, voidedAmount: 0 }
const captured = { status: 2, capturedAmount: 10_000, capturedAtMs: Date.now() }
const denied = { status: 3 }
const undone = { status: 10, voidedAmount: 10_000, voidedAtMs: Date.now() }

describe('books of the network that say something unexpected', function () {
  this.timeout(60_000)
  const paying = usePayingService()
  const { merchant, network } = paying

  const { hold, paid, rewrite, doubtful, onOne, isListed, wasFound } = tampering(paying)

  /** What the books say first, what the payment does about it, what they say then, and how it ends. */
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
      event: 'FOUND_VOIDED',
      ends: { status: 'canceled', captured_cents: 0 },
      listed: true
    },
    {
      name: 'a capture, and the sale was denied',
      begin: () => onOne(hold, id => merchant.capture(id)),
      first: denied,
      event: 'FOUND_DENIED',
      stays: 'capturing',
      later: captured,
      ends: { status: 'captured', captured_cents: 10_000 },
      listed: true
    },
    {
      name: 'a cancellation, and the sale was captured',
      begin: () => onOne(hold, id => merchant.cancel(id)),
      first: captured,
      event: 'FOUND_CAPTURED',
      ends: { status: 'captured', captured_cents: 10_000 },
      listed: true
    },
    {
      name: 'a cancellation that the network has not finished',
      begin: () => onOne(hold, id => merchant.cancel(id)),
      first: unfinished,
      event: 'FOUND_UNFINISHED',
      stays: 'cancelling',
      later: undone,
      ends: { status: 'canceled' },
      listed: false
    },
    {
      name: 'a refund of a part, and all was undone',
      begin: () => onOne(paid, id => merchant.cancel(id, { amount: 3_000 })),
      first: undone,
      event: 'FOUND_VOIDED',
      stays: 'refunding',
      later: { ...captured, voidedAmount: 3_000, voidedAtMs: Date.now() },
      ends: { status: 'partially_refunded', refunded_cents: 3_000 },
      listed: true
    },
    {
      name: 'a refund, and nothing was captured',
      begin: () => onOne(paid, id => merchant.cancel(id)),
      first: held,
      event: 'FOUND_AUTHORISED',
      stays: 'refunding',
      later: { ...captured, ...undone },
      ends: { status: 'refunded', refunded_cents: 10_000 },
      listed: true
    },
    {
      name: 'an authorisation that was undone',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: undone,
      event: 'FOUND_VOIDED',
      ends: { status: 'failed', captured_cents: 0 },
      listed: false
    },
    {
      name: 'an authorisation that the network has not finished',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: unfinished,
      event: 'FOUND_UNFINISHED',
      stays: 'unknown',
      later: captured,
      ends: { status: 'captured' },
      listed: false
    },
    {
      name: 'an authorisation with capture that is only authorised',
      begin: () => doubtful(() => merchant.create(), 'drop_after'),
      first: held,
      event: 'FOUND_AUTHORISED',
      ends: { status: 'captured', captured_cents: 10_000 },
      listed: false
    }
  ]

  for (const { name, begin, first, event, stays, later, ends, listed } of rows) {
    it(`are not believed blindly: ${name}`, async () => {
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

describe('books of the network that change after the end of a payment', function () {
  this.timeout(60_000)
  const paying = usePayingService()
  const { service, merchant, network } = paying
  const { hold, rewrite, doubtful, isListed, wasFound } = tampering(paying)

  it('show a person the hold of an expired payment that somebody captured', async () => {
    const id = await hold()
    network.faults({ error_before: 1 })
    await operate(service(), 'clock', 'advance', '8d')
    await merchant.settled(id, 'expired')
    rewrite(id, captured)
    network.faults()
    await until('it is listed', () => isListed(id, 'figures_differ'))
    rewrite(id, undone)
    await until('the hold is known to be gone', () => wasFound(id, 'released'))
  })

  it('cost nothing when a late hold turns up after the failure', async () => {
    const [model] = network.sales(await hold())
    const id = await doubtful(() => merchant.create({ capture: false }), 'drop_before')
    network.faults()
    await operate(service(), 'clock', 'advance', '11m')
    await merchant.settled(id, 'failed')
    if (model !== undefined) {
      network.book({ ...model, ...held, paymentId: randomUUID(), merchantOrderId: id.replaceAll('-', '') })
    }
    await operate(service(), 'clock', 'advance', '61m')
    await until('the late hold is voided', () => network.sales(id)[0]?.status === 10)
    await until('a person is told', () => isListed(id, 'sale_after_failure'))
  })
})

/** What a test does to a payment, and to its sale behind the back of the service. */
function tampering({ service, merchant, network }: PayingService) {
  const hold = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id
  const paid = async (): Promise<string> => (await merchant.create()).payment.id
  const rewrite = (id: string, changes: Partial<LedgerSale>): void => {
    const [sale] = network.sales(id)
    if (sale === undefined) throw new Error(`${id} has no sale`)
    network.book({ ...sale, ...changes })
  }
  /** Begins an operation whose answer, and all answers to questions about it, are lost. */
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
    (await operate(service(), 'payment', 'attention')).out.includes(`${id}  ${reason}`)
  const wasFound = async (id: string, event: string): Promise<boolean> =>
    (await operate(service(), 'payment', 'history', id)).out.includes(event)
  return { hold, paid, rewrite, doubtful, onOne, isListed, wasFound }
}
