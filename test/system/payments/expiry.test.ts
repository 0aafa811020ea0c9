import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('the window of a pre-authorisation', () => {
  const { service, merchant, network } = usePayingService()
  const advance = async (span: string): Promise<void> => {
    expect((await asOperator(service(), 'clock', 'advance', span)).code).to.equal(0)
  }
  const held = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id

  it('ends after seven days: captured just before, expired just after, and the hold is released', async () => {
    const [captured, expired] = [await held(), await held()]
    // Ten minutes before its end: no machine takes so long for the next two requests.
    await advance('604200s')
    expect((await merchant.capture(captured)).payment.status).to.equal('captured')
    expect((await merchant.read(expired)).status).to.equal('pre_authorized')
    await advance('600s')
    const payment = await merchant.settled(expired, 'expired')
    await until('the hold is released', () => ledgerSumsOf(network, expired).held === 0)
    expectLedgerToAgree(network, payment)
    const { status, error } = await merchant.capture(expired)
    expect([status, error.code]).to.deep.equal([422, 'preauth_expired'])
    expect((await merchant.cancel(expired)).error.code).to.equal('invalid_state')
    expectLedgerToAgree(network, await merchant.read(captured))
  })

  it('ends although the timers, and all workers, were dead for hours', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, held))
    for (const name of ['timers', 'payments']) service().kill(name, 'SIGSTOP')
    await advance('170h')
    for (const name of ['payments', 'timers']) service().kill(name, 'SIGCONT')
    await Promise.all(ids.map(id => merchant.settled(id, 'expired')))
    for (const id of ids) await until('the hold is released', () => ledgerSumsOf(network, id).held === 0)
  })
})
