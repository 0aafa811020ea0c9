import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

/** An expiry is on time when it comes within this time (ms). */
const ON_TIME_MS = 2_000
const RACERS = 24

describe('the window of a pre-authorisation', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()
  const advance = async (span: string): Promise<void> => {
    expect((await asOperator(service(), 'clock', 'advance', span)).code).to.equal(0)
  }
  const held = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id

  it('ends after seven days: captured just before, expired just after, and the hold is released', async () => {
    const [captured, expired] = [await held(), await held()]
    await advance('604770s')
    expect((await merchant.capture(captured)).payment.status).to.equal('captured')
    expect((await merchant.read(expired)).status).to.equal('pre_authorized')
    await advance('30s')
    const payment = await merchant.settled(expired, 'expired', ON_TIME_MS)
    await until('the hold is released', () => ledgerSumsOf(network, expired).held === 0)
    expectLedgerToAgree(network, payment)
    const { status, error } = await merchant.capture(expired)
    expect([status, error.code]).to.deep.equal([422, 'preauth_expired'])
    expect((await merchant.cancel(expired)).error.code).to.equal('invalid_state')
    expectLedgerToAgree(network, await merchant.read(captured))
  })

  it('refuses a capture from its very end, before a worker has noticed the end', async () => {
    const id = await held()
    service().kill('timers', 'SIGSTOP')
    try {
      await advance('8d')
      expect((await merchant.capture(id)).error.code).to.equal('preauth_expired')
      expect((await merchant.read(id)).status).to.equal('pre_authorized')
    } finally {
      service().kill('timers', 'SIGCONT')
    }
    await merchant.settled(id, 'expired', ON_TIME_MS)
  })

  it('ends on time although the timers, and all workers, were dead for hours', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, held))
    for (const name of ['timers', 'payments']) service().kill(name, 'SIGSTOP')
    await advance('170h')
    for (const name of ['payments', 'timers']) service().kill(name, 'SIGCONT')
    await Promise.all(ids.map(id => merchant.settled(id, 'expired', ON_TIME_MS)))
    for (const id of ids) await until('the hold is released', () => ledgerSumsOf(network, id).held === 0)
  })

  it('and a simultaneous capture have one winner', async () => {
    const ids = await Promise.all(Array.from({ length: RACERS }, held))
    network.faults({ latency_ms: 30 })
    await advance('604799s')
    const moved = advance('1s')
    const captures = []
    for (const id of ids) {
      captures.push(merchant.capture(id))
      // Paced over the time in which the processes learn, one after the other, that it is a second later.
      await delay(10)
    }
    const answers = await Promise.all(captures)
    await moved
    await Promise.all(
      ids.map(async (id, index) => {
        const payment = await until('it has ended', async () => {
          const found = await merchant.read(id)
          return found.status === 'captured' || found.status === 'expired' ? found : undefined
        })
        expect(answers[index]?.status, payment.status).to.equal(payment.status === 'captured' ? 200 : 422)
        await until('the ledger agrees', () => ledgerSumsOf(network, id).held === 0)
        expectLedgerToAgree(network, payment)
      })
    )
  })

  it('is over for the merchant at once, and for the buyer as soon as the network releases the hold', async () => {
    const id = await held()
    network.faults({ error_before: 1 })
    await advance('8d')
    await merchant.settled(id, 'expired', ON_TIME_MS)
    const tried = async (): Promise<boolean> =>
      (await asOperator(service(), 'payment', 'history', id)).out.includes('NO_ANSWER')
    await until('the release is tried and asked about', tried)
    expect(ledgerSumsOf(network, id).held).to.equal(10_000)
    network.faults()
    await until('the hold is released', () => ledgerSumsOf(network, id).held === 0)
    await until('the service knows', async () =>
      (await asOperator(service(), 'payment', 'show', id)).out.includes('released')
    )
  })
})
