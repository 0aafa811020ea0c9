/** A gateway of the acquirer that turns everything away for five minutes: what is sent to it, and what is left in doubt. */

import { expect } from 'chai'
import type { Environment, Payment } from '../../../machines/model.js'
import { parseJson } from '../../../runtime/json.js'
import { networkOver } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { WatchedTransport } from '../../../workers/network/network-watch.js'
import type { Exchange, WireRequest } from '../../../workers/network/transport.js'
import { networkConfig } from '../../support/card-network.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const BURST_MS = 300_000
const CREATE_EVERY_MS = 500
/** Failures until the circuit opens, and trials after 1, 2, 4 and 8 s and then each 10 s. */
const SENT_MAX = 5 + 4 + 29
const RECOVERED_WITHIN_MS = 10_000
/** A create that held its worker for so long would not end within the time of a test. */
const NETWORK_RETRY_MS = 3_600_000

const throttled: Exchange = { kind: 'answered', status: 429, text: '' }
const refusedConnection: Exchange = { kind: 'not_sent', reason: 'ECONNREFUSED' }

/** The answer of the acquirer itself to a sale. */
function approval({ body }: WireRequest): Exchange {
  const sale = Object(parseJson(body ?? ''))
  const payment = { PaymentId: 'sale-1', Status: 2, ReturnCode: '6', Amount: sale.Payment.Amount }
  return {
    kind: 'answered',
    status: 201,
    text: JSON.stringify({ MerchantOrderId: sale.MerchantOrderId, Payment: payment })
  }
}

describe('a gateway that answers instead of the acquirer', () => {
  const test = useRedis()
  let nowMs: number
  let answer: (request: WireRequest) => Exchange
  let sent: WireRequest[]
  let watched: WatchedTransport
  let worker: TestWorker
  const start = (environment: Environment): void => {
    nowMs = 0
    answer = approval
    sent = []
    const gateway = {
      send: async (request: WireRequest): Promise<Exchange> => {
        sent.push(request)
        return answer(request)
      },
      close: async () => undefined
    }
    const config = networkConfig('http://gateway.example')
    watched = new WatchedTransport(gateway, {
      baseUrl: config.networkTransactionUrl,
      probePath: '/',
      timeoutMs: config.networkTimeoutMs,
      circuit: { failuresMax: 5, environment },
      clock: { now: () => nowMs }
    })
    worker = aWorker(test, () => ({ network: networkOver(watched, gateway, config), networkRetryMs: NETWORK_RETRY_MS }))
  }
  beforeEach(() => start('live'))
  afterEach(() => test.redis.flushdb())

  const create = async (): Promise<Payment> => {
    const payment = await worker.accept()
    await worker.work()
    return await worker.load(payment)
  }
  /** One create each half second, for so long. */
  const createFor = async (forMs: number): Promise<Payment[]> => {
    const payments: Payment[] = []
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += CREATE_EVERY_MS) payments.push(await create())
    return payments
  }
  const countOf = (payments: readonly Payment[], status: string): number =>
    payments.filter(({ progress }) => progress.status === status).length

  it('gets a few trials while it throttles for five minutes; all other creates fail with nothing sent', async () => {
    answer = () => throttled
    const payments = await createFor(BURST_MS)
    const callsInBurst = sent.length
    answer = approval
    const backAtMs = nowMs
    while ((await create()).progress.status !== 'captured') nowMs += CREATE_EVERY_MS
    const figures = `${callsInBurst} calls, ${countOf(payments, 'unknown')} in doubt, ${nowMs - backAtMs} ms until a create works`
    expect(callsInBurst, figures).to.be.within(10, SENT_MAX)
    expect(countOf(payments, 'unknown'), figures).to.equal(callsInBurst)
    expect(countOf(payments, 'failed'), figures).to.equal(payments.length - callsInBurst)
    expect(nowMs - backAtMs, figures).to.be.at.most(RECOVERED_WITHIN_MS)
  })

  it('fails a refused create with network_unavailable at once, and releases its token', async () => {
    answer = () => throttled
    await createFor(5 * CREATE_EVERY_MS)
    const payment = await create()
    expect([payment.progress.status, payment.progress.error]).to.deep.equal(['failed', 'network_unavailable'])
    expect(worker.released).to.deep.equal([payment.terms.id])
    expect(sent).to.have.lengthOf(5)
  })

  it('gets no trial for as long as its Retry-After says, up to a minute', async () => {
    for (const [askedMs, waitedMs] of [
      [20_000, 20_000],
      [3_600_000, 60_000]
    ] as const) {
      answer = () => ({ ...throttled, retryAfterMs: askedMs })
      await createFor(5 * CREATE_EVERY_MS)
      nowMs += waitedMs - 2 * CREATE_EVERY_MS
      answer = approval
      expect((await create()).progress.status, `${askedMs}`).to.equal('failed')
      nowMs += CREATE_EVERY_MS
      expect((await create()).progress.status, `${askedMs}`).to.equal('captured')
    }
  })

  it('still gets captures and voids, and the first answer ends the refusals', async () => {
    const { network } = worker.deps
    answer = () => throttled
    await createFor(5 * CREATE_EVERY_MS)
    const before = sent.length
    await network.capture('sale-1', 100, endlessLease)
    await network.void('sale-1', 100, endlessLease)
    expect((await create()).progress.status).to.equal('failed')
    expect(sent.slice(before).map(({ method }) => method)).to.deep.equal(['PUT', 'PUT'])
    answer = () => ({ kind: 'answered', status: 400, text: '[{"Code":308}]' })
    await network.capture('sale-1', 100, endlessLease)
    answer = approval
    expect((await create()).progress.status).to.equal('captured')
  })

  it('stays behind an open circuit although it answers the probe', async () => {
    answer = ({ method }) => (method === 'GET' ? { kind: 'answered', status: 404, text: '' } : throttled)
    await createFor(5 * CREATE_EVERY_MS)
    nowMs += 60_000
    await watched.probeWhenIdle(endlessLease)
    expect(sent.at(-1)).to.include({ method: 'GET', path: '/' })
    expect(watched.isCircuitOpen).to.equal(true)
    expect(watched.unreachable()).to.equal(
      'The last 5 calls to the card network at gateway.example got no answer (HTTP 429). New payments are refused, but for a trial each few seconds.'
    )
  })

  for (const [environment, isOpen] of [
    ['live', true],
    ['test', false]
  ] as const) {
    it(`may cut connections: ${environment}, where ${isOpen ? 'creates are refused' : 'test cards do the same'}`, async () => {
      start(environment)
      answer = () => ({ kind: 'ambiguous', reason: 'ECONNRESET', isCut: true })
      await createFor(5 * CREATE_EVERY_MS)
      expect(watched.isCircuitOpen).to.equal(isOpen)
    })
  }

  it('is retried as before while connections are refused: such creates leave nothing in doubt', async () => {
    answer = request => (sent.length > 5 ? approval(request) : refusedConnection)
    expect((await create()).progress.status).to.equal('captured')
  })
})
