/** Holds that were made together end together, and new sales share with them what the acquirer allows. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

const HOLDS = 120
/** Of which the default of RECONCILE_PER_SECOND leaves 50 to sales. */
const ALLOWED_PER_SECOND = 150
const BETWEEN_SALES_MS = 60

describe('holds that lapse at the same time, at an acquirer that throttles', () => {
  const { service, merchant, network } = usePayingService()
  afterEach(() => void network.allow(Number.POSITIVE_INFINITY))

  it('are voided at a pace that leaves its room to fresh sales', async () => {
    const held: string[] = []
    while (held.length < HOLDS) {
      const made = await Promise.all(Array.from({ length: 10 }, () => merchant.create({ capture: false })))
      for (const { status, payment } of made) if (status === 201) held.push(payment.id)
    }
    const throttled = network.allow(ALLOWED_PER_SECOND)
    expect((await asOperator(service(), 'clock', 'advance', '7d')).code).to.equal(0)
    const fresh: number[] = []
    await until('each hold has ended', async () => {
      fresh.push((await merchant.create()).status)
      await pause(BETWEEN_SALES_MS)
      const { payment } = { payment: await merchant.read(held.at(-1) ?? '') }
      return payment.status === 'expired'
    })
    for (const id of held) {
      await merchant.settled(id, 'expired')
      expectLedgerToAgree(network, await merchant.read(id))
    }
    expect(
      fresh.filter(status => status !== 201),
      `of ${fresh.length} fresh sales`
    ).to.deep.equal([])
    expect(throttled(), 'calls that were answered 429').to.equal(0)
  })
})
