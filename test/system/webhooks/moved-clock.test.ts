import { expect } from 'chai'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { SERVICE_SETTINGS } from '../../support/webhooks.js'

/** A receiver tolerates 300 s (docs/WEBHOOKS.md). */
const TOLERATED_MS = 300_000

describe('webhooks while the clock of the test environment is ahead', () => {
  const service = useService({ env: SERVICE_SETTINGS })
  const merchant = new Merchant(service)
  before(async () => void (await asOperator(service(), 'clock', 'advance', '7d')))
  after(async () => void (await asOperator(service(), 'clock', 'reset')))

  const withReceiver = async (work: (receiver: Receiver) => Promise<void>): Promise<void> => {
    const receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    try {
      await registerHook(service(), receiver.url)
      await work(receiver)
    } finally {
      await receiver.stop()
    }
  }

  it('are signed with the real time, which is that of their receiver', () =>
    withReceiver(async receiver => {
      await merchant.create()
      const { headers } = await until('an event arrives', () => receiver.received[0])
      const signedAtMs = Number(/^t=(\d+)/.exec(String(headers['x-service-signature']))?.[1]) * 1_000
      expect(Math.abs(signedAtMs - Date.now())).to.be.below(TOLERATED_MS)
    }))

  it('6.4: announce the end of a window', () =>
    withReceiver(async receiver => {
      const { id } = (await merchant.create({ capture: false })).payment
      await asOperator(service(), 'clock', 'advance', '8d')
      await until('the end is announced', () => receiver.accepted().get(id)?.includes('expired'))
      expect([...new Set(receiver.accepted().get(id))]).to.deep.equal(['pre_authorized', 'expired'])
      expect(await merchant.read(id)).to.include({ status: 'expired', captured_cents: 0 })
    }))

  it('have endpoints that were changed in real time: a rotated secret ends a real day later', async () => {
    const answer = await fetch(`${service().baseUrl}/v1/webhook-endpoint`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service().apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://shop.example/hooks', rotate_secret: true })
    })
    const { updated_at } = (await answer.json()) as { updated_at: string }
    expect(Math.abs(Date.parse(updated_at) - Date.now())).to.be.below(TOLERATED_MS)
  })
})
