import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, newPaymentId, partitionOf } from '../../../redis/keys.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { encodeConcluded } from '../../../redis/webhooks/webhook-event.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'
import { aChange } from '../../support/webhooks.js'

const PARTITIONS = 16
const START_MS = Date.UTC(2026, 0, 2, 12)

describe('operator webhook, for an abandoned endpoint', () => {
  const test = useRedis()
  let merchantId = ''

  const run = (...args: string[]) => operate({ SERVICE_ENV: 'test', REDIS_URL: test.url }, args)
  /** As `webhooks` writes them: given up one minute after the other. */
  const giveUp = async (count: number): Promise<void> => {
    const partition = partitionOf(merchantId, PARTITIONS)
    for (let minute = 0; minute < count; minute++) {
      const paymentId = newPaymentId(partition, Date.now())
      const change = aChange({ paymentId, occurredAtMs: START_MS + minute * 60_000, capturedCents: 100 })
      const attempts = [{ atMs: START_MS, status: 502, durationMs: 3, note: 'no shop here' }]
      const record = encodeConcluded({ change, attempts })
      await test.redis.zadd(keys.webhookUndeliverable(partition, merchantId), change.occurredAtMs, record)
    }
  }

  beforeEach(async () => {
    await test.redis.flushdb()
    merchantId = (await run('merchant', 'create', 'Loja', '--json')).json().merchant_id
  })

  it('list: shows undeliverable events, oldest first, with the last answer', async () => {
    await giveUp(3)
    const { out } = await run('webhook', 'list', '--state', 'undeliverable', '--limit', '2')
    expect(out.match(/T12:0\d:00/g)).to.deep.equal(['T12:00:00', 'T12:01:00'])
    expect(out.match(/502 no shop here/g)).to.have.lengthOf(2)
    expect(out).to.contain('There are more than these 2')
    expect((await run('webhook', 'list', '--limit', '3')).out).not.to.contain('There are more')
    const since = await run('webhook', 'list', '--since', '2026-01-02T12:01:00Z', '--json')
    expect(since.json()).to.have.lengthOf(2)
  })

  it('discard: deletes what occurred before a time, or all of it', async () => {
    await giveUp(3)
    const before = await run('webhook', 'discard', merchantId, '--yes', '--before', '2026-01-02T12:01:00Z', '--json')
    expect(before.json()).to.deep.equal({ merchant_id: merchantId, discarded: 1 })
    expect((await run('webhook', 'discard', '--yes', '--merchant', merchantId)).out).to.equal(
      '2 undeliverable events are deleted.\n'
    )
    expect((await run('webhook', 'list')).out).to.contain('There are no such events.')
  })

  it('disable and enable: explain the effect, and list shows what is switched off', async () => {
    const { code, err } = await run('webhook', 'disable', merchantId, '--yes')
    expect([code, err]).to.deep.equal([
      1,
      `error: Merchant ${merchantId} has no webhook endpoint, so it has no events. Nothing was changed.\n`
    ])
    const endpoints = createWebhookEndpointStore(unreplicated(test.redis), PARTITIONS)
    await endpoints.register({ merchantId, url: 'https://shop.example/hook', isRotation: false, keyId: 'k', nowMs: 1 })
    expect((await run('webhook', 'disable', merchantId, '--yes')).out).to.contain('neither sent nor kept')
    expect((await run('webhook', 'list')).out).to.contain(`Webhooks of ${merchantId} are switched off since 20`)
    expect((await run('webhook', 'enable', merchantId, '--json')).json()).to.deep.equal({
      merchant_id: merchantId,
      webhooks_enabled: true
    })
    expect((await run('webhook', 'list')).out).not.to.contain('switched off')
  })
})
