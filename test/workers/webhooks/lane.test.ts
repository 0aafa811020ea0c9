import { Writable } from 'node:stream'
import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { startReceiver } from '../../support/receiver.js'
import { emit, registerEndpoint, useDelivery } from '../../support/webhooks.js'

describe('the log of webhooks', () => {
  const rig = useDelivery()

  it('names each merchant with an endpoint that is down once in a while, not every event', async () => {
    const lines: string[] = []
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk))
        done()
      }
    })
    const { stop, url } = await startReceiver()
    await stop()
    for (const merchant of ['m_1', 'm_2']) await registerEndpoint(rig.test, merchant, url)
    await rig.deliverer({
      retries: { delaysMs: [1_000], jitter: 0 },
      log: createLogger('webhooks', 'warn', destination)
    })
    for (let count = 0; count < 20; count++) await emit(rig.test, 'm_1', ['captured'])
    await emit(rig.test, 'm_2', ['captured'])
    const givenUp = async (merchant: string): Promise<number> => (await rig.undeliverable(merchant)).length
    await until('all are given up', async () => {
      rig.advance(10_000)
      return (await givenUp('m_1')) === 20 && (await givenUp('m_2')) === 1
    })
    const warnings = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'a webhook event is undeliverable')
    expect(warnings.map(({ merchant_id: merchant }) => merchant).sort()).to.deep.equal(['m_1', 'm_2'])
  })
})
