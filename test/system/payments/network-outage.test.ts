/** Real processes while the card network is away for a while, and while its query host denies every sale. */
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, testCards } from '../../support/merchant.js'
import { useService } from '../../support/service.js'
import { setFaults } from '../../support/simulator.js'

const PAYMENTS = 20
const OUTAGE_MS = 8_000
/** The doubt is as old as the outage, so the next query is not later than that; and some time for a busy machine. */
const ASKED_WITHIN_MS = OUTAGE_MS + 7_000

describe('a card network in trouble', function () {
  this.timeout(90_000)
  // By the gaps alone, the second query would come after a minute.
  const env = { LOG_LEVEL: 'error', RECONCILE_DELAYS_MS: '300,60000', TIMERS_INTERVAL_MS: '50' }
  const service = useService({ scale: ['payments=2', 'timers=2'], env })
  const merchant = new Merchant(service)
  beforeEach(async () => {
    await setFaults(service(), {})
    expect((await merchant.create()).payment.status).to.equal('captured')
  })
  afterEach(() => setFaults(service(), {}))

  const historyOf = async (id: string): Promise<{ event: string; times: number }[]> =>
    (await asOperator(service(), 'payment', 'history', id, '--json')).json() as { event: string; times: number }[]
  const isUnanswered = async (id: string): Promise<boolean> =>
    (await historyOf(id)).some(({ event }) => event === 'NO_ANSWER')
  /** Authorised and captured at the network, which did not say so. */
  const inDoubt = async (): Promise<string> => {
    const { payment } = await merchant.create({ card: testCards.silentlyApproved })
    expect(payment.status).to.equal('unknown')
    return payment.id
  }

  it('is queried about every payment in doubt soon after it is back', async () => {
    await setFaults(service(), { drop_after: 1 })
    const ids = await Promise.all(Array.from({ length: PAYMENTS }, inDoubt))
    await until('a query got no answer', () => isUnanswered(ids[0] ?? ''))
    await new Promise(resolve => setTimeout(resolve, OUTAGE_MS))
    for (const id of ids) expect((await merchant.read(id)).status).to.equal('unknown')
    await setFaults(service(), {})
    const backAtMs = performance.now()
    for (const id of ids) await merchant.settled(id, 'captured', ASKED_WITHIN_MS)
    expect(performance.now() - backAtMs).to.be.below(ASKED_WITHIN_MS)
  })

  it("ignores 'not found' while the network also denies a known sale", async () => {
    await setFaults(service(), { deny_queries: 1 })
    const id = await inDoubt()
    await until('it is denied', () => isUnanswered(id))
    const queries = async (): Promise<number> =>
      (await historyOf(id)).reduce((sum, { event, times }) => sum + (event === 'NO_ANSWER' ? times : 0), 0)
    const before = await queries()
    await asOperator(service(), 'clock', 'advance', '2h')
    await until('it is denied beyond the horizon', async () => (await queries()) > before)
    expect((await merchant.read(id)).status).to.equal('unknown')
    await setFaults(service(), {})
    await asOperator(service(), 'clock', 'advance', '1m')
    await merchant.settled(id, 'captured', 15_000)
    await asOperator(service(), 'clock', 'reset')
  })
})
