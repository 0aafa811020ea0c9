import { expect } from 'chai'
import type { PaymentProgress } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import { type ContrarySale, Wire } from '../support/contrary-wire.js'
import { aPayment, references } from '../support/payments.js'
import { auditContraryEnd } from './contrary-payments.js'
import type { ContraryBooks } from './contrary-thread.js'

const CENTS = 1_000

/** A charge of the contrary acquirer, as both sides have it; `sale` and `progress` change what they have. */
function found(given: {
  sale?: Partial<ContrarySale>
  progress?: Partial<PaymentProgress>
  isListed?: boolean
  refundsCents?: readonly number[]
  deviation?: string
}): string[] {
  const { isListed = false, refundsCents = [], deviation } = given
  const ended = { status: 'captured', phase: null, capturedCents: CENTS, references } as const
  const plain = aPayment()
  const operation = { ...plain.progress.operation, state: 'succeeded' } as const
  const payment = { ...plain, progress: { ...plain.progress, ...ended, operation, ...given.progress } }
  const { id } = payment.terms
  const place = { saleId: String(references.saleId), orderId: orderIdOf(id) }
  const amounts = { askedCents: CENTS, amountCents: CENTS, capturedCents: CENTS, voidedCents: 0 }
  const sale = {
    ...place,
    ...amounts,
    atMs: 0,
    isCaptureAsked: true,
    status: Wire.captured,
    currency: 'BRL',
    kinds: []
  }
  const refunds = refundsCents.map(askedCents => ({
    ...place,
    verb: 'void',
    atMs: 9,
    askedCents,
    bookedCents: askedCents
  }))
  const books = {
    sales: new Map([[sale.saleId, { ...sale, ...given.sale }]]),
    calls: [{ ...place, verb: 'sale', atMs: 1, askedCents: CENTS, bookedCents: CENTS }, ...refunds],
    deviations: deviation === undefined ? [] : [{ ...place, what: deviation, atMs: 1, toldAtMs: null, shownAtMs: 2 }],
    firstShownMs: new Map()
  } as ContraryBooks
  const findings = { duplicates: [], lost: [], wrong: [], stuck: [], undelivered: [], late: [] }
  auditContraryEnd(books, [{ payment, isListed }], [], findings)
  return Object.values(findings)
    .flat()
    .map(line => String(line).replaceAll(id, 'P'))
}

describe('the audit of a chaos run with a contrary acquirer', () => {
  it('finds nothing when both sides agree', () => {
    expect(found({})).to.deep.equal([])
  })

  it('finds a refund that no merchant asked for', () => {
    const sale = { voidedCents: 400 }
    const problems = found({ sale, refundsCents: [400] })
    expect(problems).to.deep.equal([
      'refunded more than asked: P 400 of 0',
      'figures differ and it is not listed: P tells 1000 - 0, the ledger has 1000 - 400'
    ])
  })

  it('finds figures that differ, unless an operator has to look at them', () => {
    const progress = { status: 'failed', capturedCents: 0 } as const
    expect(found({ progress })).to.deep.equal([
      'figures differ and it is not listed: P is failed, the ledger keeps 1000'
    ])
    expect(found({ progress, isListed: true })).to.deep.equal([])
  })

  it('finds deviations of the acquirer that no operator was told about', () => {
    const deviation = 'charged, a hold was asked'
    expect(found({ deviation })).to.deep.equal([`not listed, though shown: P ${deviation}`])
    expect(found({ deviation, isListed: true })).to.deep.equal([])
  })

  it('finds a payment that is open after three days and was not listed', () => {
    const { operation } = aPayment().progress
    const progress = { status: 'unknown', phase: 'reconciling', capturedCents: 0, operation } as const
    expect(found({ progress, sale: { capturedCents: 0, status: Wire.denied } })).to.deep.equal([
      'P: unknown, and not listed after three days'
    ])
  })
})
