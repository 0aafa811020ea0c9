/** Absence needs a positive control: what a query host that knows none of our sales does to a charged payment. */
import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import { orderIdOf, type QueryOutcome } from '../../../machines/network.js'
import { createKnownSaleStore, type KnownSaleStore } from '../../../redis/reconciliation/known-sale.js'
import { createLogger } from '../../../runtime/log.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { createReconcilingNetwork, type Unconfirmed } from '../../../workers/payments/reconciling-network.js'
import { createVoidedReader } from '../../../workers/payments/voided-amounts.js'
import { ambiguous, approvedAndCaptured, FakeNetwork } from '../../support/fake-network.js'
import { aPayment, aSale, CREATED_MS, policy } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const HOUR_MS = 3_600_000
const OTHER_ORDER = orderIdOf(aPayment().terms.id)
const absent: QueryOutcome = { kind: 'absent' }
const found: QueryOutcome = { kind: 'found', sales: [aSale({ status: 'captured' })] }
const silent: QueryOutcome = { kind: 'no_answer', reason: 'timeout' }

/** Answers by the order that is asked about. */
class HostByOrder extends FakeNetwork {
  readonly queried: string[] = []
  answerTo: (orderId: string) => QueryOutcome = () => absent

  override async query(orderId = ''): Promise<QueryOutcome> {
    this.queried.push(orderId)
    return this.answerTo(orderId)
  }
}

/** Wakes the payment each time that it is due. */
async function reconcileFor(worker: TestWorker, payment: Payment, forMs: number): Promise<void> {
  const endMs = worker.clock.atMs + forMs
  for (;;) {
    const dueMs = await worker.wakeUpOf(payment)
    if (dueMs === null || dueMs > endMs) return
    await worker.wake(payment, dueMs)
  }
}

async function statusOf(worker: TestWorker, payment: Payment): Promise<string> {
  return (await worker.load(payment)).progress.status
}

async function paid(worker: TestWorker, host: FakeNetwork): Promise<Payment> {
  return await accepted(worker, host, approvedAndCaptured)
}

async function inDoubt(worker: TestWorker, host: FakeNetwork): Promise<Payment> {
  return await accepted(worker, host, ambiguous)
}

async function accepted(
  worker: TestWorker,
  host: FakeNetwork,
  outcome: typeof ambiguous | typeof approvedAndCaptured
): Promise<Payment> {
  const payment = await worker.accept()
  host.willAnswer(outcome)
  await worker.work()
  return payment
}

describe('an absence at the card network', () => {
  const test = useRedis()
  const log = createLogger('test', 'silent')
  let host: HostByOrder
  let unconfirmed: Unconfirmed[]
  let answers: number
  let givenBack: number
  beforeEach(() => {
    host = new HostByOrder()
    unconfirmed = []
    answers = 0
    givenBack = 0
  })
  afterEach(() => test.redis.flushdb())

  const workerOf = (account = 'account-1', remember?: KnownSaleStore['remember']): TestWorker =>
    aWorker(test, deps => ({
      network: createReconcilingNetwork(host, {
        knownSales: { ...createKnownSaleStore(test.redis), ...(remember && { remember }) },
        pace: {
          noteAnswer: async () => void answers++,
          returnUnused: async count => {
            givenBack += count
          }
        },
        account,
        onUnconfirmed: reason => void unconfirmed.push(reason),
        clock: deps.clock,
        log
      })
    }))
  it('is proven by a sale of the last minute: a known sale is noted again when the note is older', async () => {
    let notes = 0
    const worker = workerOf('account-1', async () => void notes++)
    const { now } = performance
    for (const agoMs of [0, 59_000, 61_000, 62_000]) {
      performance.now = () => now.call(performance) + agoMs
      await paid(worker, host).finally(() => {
        performance.now = now
      })
    }
    expect(notes).to.equal(2)
  })

  it('does not fail a payment that was charged while a query host denies every sale for two hours', async () => {
    const worker = workerOf()
    await paid(worker, host)
    const payment = await inDoubt(worker, host)
    await reconcileFor(worker, payment, 2 * HOUR_MS)
    expect(await statusOf(worker, payment)).to.equal('unknown')
    expect(new Set(unconfirmed)).to.deep.equal(new Set(['denied']))
    expect(answers, 'a denial must not speed up the queries').to.equal(0)
    const asked = host.queried.filter(orderId => orderId === orderIdOf(payment.terms.id)).length
    expect(givenBack, 'nor slow down those about other payments').to.equal(asked)
    host.answerTo = () => found
    await reconcileFor(worker, payment, 60_000)
    expect(await statusOf(worker, payment)).to.equal('captured')
  })

  it('does not fail a payment that was charged when the host begins to deny after a good control', async () => {
    const worker = workerOf()
    const known = orderIdOf((await paid(worker, host)).terms.id)
    const payment = await inDoubt(worker, host)
    let isDenying = false
    host.answerTo = orderId => (orderId === known && !isDenying ? found : absent)
    await worker.deps.network.query(OTHER_ORDER, endlessLease)
    isDenying = true
    await reconcileFor(worker, payment, HOUR_MS)
    expect(await statusOf(worker, payment)).to.equal('unknown')
  })

  it('is queried again when the host finds the known sale: it may have been repaired in between', async () => {
    const worker = workerOf()
    const known = orderIdOf((await paid(worker, host)).terms.id)
    host.answerTo = orderId => (host.queried.includes(known) || orderId === known ? found : absent)
    expect((await worker.deps.network.query(OTHER_ORDER, endlessLease)).kind).to.equal('found')
  })

  it('fails a payment once the horizon is over when the host knows a sale of the same account', async () => {
    const worker = workerOf()
    const known = await paid(worker, host)
    const payment = await inDoubt(worker, host)
    host.answerTo = orderId => (orderId === orderIdOf(known.terms.id) ? found : absent)
    await reconcileFor(worker, payment, policy.notFoundHorizonMs)
    expect(await statusOf(worker, payment)).to.equal('failed')
    expect(unconfirmed).to.deep.equal([])
  })

  it('does not count before the first approved sale of an installation', async () => {
    const worker = workerOf()
    const payment = await inDoubt(worker, host)
    await reconcileFor(worker, payment, HOUR_MS)
    expect(await statusOf(worker, payment)).to.equal('unknown')
    expect(new Set(unconfirmed)).to.deep.equal(new Set(['no_known_sale']))
    const known = await paid(worker, host)
    host.answerTo = orderId => (orderId === orderIdOf(known.terms.id) ? found : absent)
    await reconcileFor(worker, payment, 60_000)
    expect(await statusOf(worker, payment)).to.equal('failed')
  })

  it('does not count when the control query is not answered', async () => {
    const worker = workerOf()
    const known = await paid(worker, host)
    const payment = await inDoubt(worker, host)
    host.answerTo = orderId => (orderId === orderIdOf(known.terms.id) ? silent : absent)
    await reconcileFor(worker, payment, HOUR_MS)
    expect(await statusOf(worker, payment)).to.equal('unknown')
    expect(unconfirmed).to.deep.equal([])
  })

  for (const [what, sinceMs] of [
    ['is older than the account which is asked', HOUR_MS],
    ['may come from a worker that still has the old account', -HOUR_MS / 2]
  ] as const) {
    it(`never ends a payment that ${what}`, async () => {
      const before = workerOf()
      await paid(before, host)
      const payment = await inDoubt(before, host)
      const after = workerOf('account-2')
      after.clock.atMs = Date.now() + sinceMs
      const known = await paid(after, host)
      after.clock.atMs = before.clock.atMs
      host.answerTo = orderId => (orderId === orderIdOf(known.terms.id) ? found : absent)
      await reconcileFor(after, payment, HOUR_MS)
      expect(await statusOf(after, payment)).to.equal('unknown')
      expect(new Set(unconfirmed)).to.deep.equal(new Set(['older_than_account']))
    })
  }

  it('costs few control queries for many payments at once, and no query for a payment that is found', async () => {
    const worker = workerOf()
    const known = orderIdOf((await paid(worker, host)).terms.id)
    host.answerTo = orderId => (orderId === OTHER_ORDER ? absent : found)
    await worker.deps.network.query('0'.repeat(32), endlessLease)
    expect(host.queried).not.to.include(known)
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => worker.deps.network.query(OTHER_ORDER, endlessLease))
    )
    expect(outcomes).to.deep.equal(Array(50).fill(absent))
    expect(host.queried.filter(orderId => orderId === known)).to.have.length.within(1, 2)
    expect(answers).to.equal(51)
  })

  it('notes a known sale once a minute, not with each payment, and again when that failed', async () => {
    const noted: string[] = []
    const worker = workerOf('account-1', async ({ orderId }) => {
      noted.push(orderId)
      if (noted.length === 1) throw new Error('Redis is away.')
    })
    const sold = [await paid(worker, host), await paid(worker, host), await paid(worker, host)]
    expect(noted).to.deep.equal(sold.slice(0, 2).map(({ terms }) => orderIdOf(terms.id)))
  })
})

const ORDER = '0197f3a21b2c7def8abc01234567a003'

describe('a record that leaves out the voided amount of a captured sale', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  const aReader = (account = 'account-1') =>
    createVoidedReader({ knownSales: createKnownSaleStore(test.redis), account, clock: { now: () => CREATED_MS } })
  const read = async (reader: ReturnType<typeof aReader>, voidedCents: number | null): Promise<number | null> => {
    const found = { kind: 'found', sales: [aSale({ status: 'captured', voidedCents })] } as const
    const outcome: QueryOutcome = await reader(ORDER, found)
    if (outcome.kind !== 'found') throw new Error('The sale was lost.')
    return outcome.sales[0].voidedCents
  }

  it('says nothing while the account has never shown one', async () => {
    expect(await read(aReader(), null)).to.equal(null)
  })

  it('means zero once the account has shown one, also to another process', async () => {
    expect(await read(aReader(), 300)).to.equal(300)
    expect(await read(aReader(), null)).to.equal(0)
    expect(await read(aReader('account-2'), null), 'another account').to.equal(null)
  })

  it('says nothing in an account that shows zeros as well', async () => {
    await read(aReader(), 300)
    expect(await read(aReader(), 0)).to.equal(0)
    expect(await read(aReader(), null)).to.equal(null)
  })
})
