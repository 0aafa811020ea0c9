import { expect } from 'chai'
import type { PaymentProgress, Refund } from '../../../machines/model.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'
import { storePayment } from '../../support/stored-payments.js'

const at = (text: string): number => Date.parse(text)

describe('operator report', () => {
  const servers = useRedis()
  let [loja, padaria] = ['', '']

  const run = (...args: string[]) => operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, ['report', ...args])
  const newMerchant = async (name: string) => {
    const made = await operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, ['merchant', 'create', name, '--json'])
    return (made.json() as { merchant_id: string }).merchant_id
  }
  const stored = (merchantId: string, createdAt: string, progress: Partial<PaymentProgress>, reference = 'order-1') =>
    storePayment(servers.redis, merchantId, at(createdAt), { terms: { externalReference: reference }, progress })
  const captured = (capturedAt: string, more: Partial<PaymentProgress> = {}): Partial<PaymentProgress> => ({
    status: 'captured',
    capturedCents: 1_000,
    capturedAtMs: at(capturedAt),
    ...more
  })
  const refund = (concludedAt: string, amountCents: number, changes: Partial<Refund> = {}): Refund => ({
    amountCents,
    state: 'succeeded',
    idempotencyKey: 'key-of-the-refund',
    requestedAtMs: at(concludedAt) - 1_000,
    concludedAtMs: at(concludedAt),
    error: null,
    ...changes
  })
  const linesOf = (csv: string): string[][] =>
    csv
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => line.split(',').slice(0, 3))

  beforeEach(async () => {
    await servers.redis.flushdb()
    loja = await newMerchant('Loja')
    padaria = await newMerchant('Padaria')
  })

  it('settlement: prints no header before an error, and the header alone when nothing moved', async () => {
    const days = ['--from', '2026-01-01', '--to', '2026-01-31']
    const failed = await run('settlement', '--merchant', 'm_unknown', ...days)
    expect([failed.code, failed.out], failed.err).to.deep.equal([1, ''])
    const nothing = await run('settlement', ...days)
    expect([nothing.code, nothing.out.startsWith('type,'), nothing.out.split('\n').length]).to.deep.equal([0, true, 2])
  })

  it('settlement: lists captures, refunds and chargebacks by their time', async () => {
    const early = captured('2026-01-01T00:00:00Z', {
      status: 'partially_refunded',
      refundedCents: 300,
      refunds: [refund('2026-01-10T12:00:00Z', 100), refund('2026-02-01T00:00:00Z', 200)]
    })
    await stored(loja, '2025-12-31T12:00:00Z', early)
    await stored(padaria, '2026-01-20T00:00:00Z', captured('2026-01-20T00:00:01Z'))
    await stored(padaria, '2026-01-20T00:00:00Z', { status: 'failed' })
    const { out } = await run('settlement', '--from', '2026-01-01', '--to', '2026-01-31')
    expect(linesOf(out)).to.have.deep.members([
      ['capture', '2026-01-01T00:00:00.000Z', '1000'],
      ['refund', '2026-01-10T12:00:00.000Z', '100'],
      ['capture', '2026-01-20T00:00:01.000Z', '1000']
    ])
    const february = await run('settlement', '--from', '2026-02-01', '--to', '2026-02-01')
    expect(linesOf(february.out)).to.deep.equal([['refund', '2026-02-01T00:00:00.000Z', '200']])
    const later = await run('settlement', '--from', '2026-01-01', '--to', '2026-01-31', '--created-from', '2026-01-01')
    expect(linesOf(later.out)).to.have.lengthOf(1)
  })

  it('settlement: writes no text that a spreadsheet would run as a formula', async () => {
    for (const reference of ['=1+1', '+1', '-1', '@SUM(A1)'])
      await stored(loja, '2026-01-31T00:00:00Z', captured('2026-01-31T00:00:01Z'), reference)
    const { out } = await run('settlement', '--from', '2026-01-01', '--to', '2026-01-31')
    const references = out
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.split(',')[6])
    expect(references).to.have.members(["'=1+1", "'+1", "'-1", "'@SUM(A1)"])
  })

  it('settlement: omits refunds that are in progress, failed or reversed, and includes those made outside the service', async () => {
    const progress = captured('2026-01-02T00:00:00Z', {
      refunds: [
        refund('2026-01-03T00:00:00Z', 100, { state: 'failed', error: 'refund_reversed' }),
        refund('2026-01-03T00:00:00Z', 50, { state: 'unknown', concludedAtMs: null }),
        refund('2026-01-03T00:00:00Z', 25, { idempotencyKey: null, requestedAtMs: null })
      ]
    })
    await stored(loja, '2026-01-02T00:00:00Z', progress)
    const { out } = await run('settlement', '--from', '2026-01-01', '--to', '2026-01-31')
    expect(linesOf(out).map(([type, , cents]) => `${type} ${cents}`)).to.deep.equal(['capture 1000', 'refund 25'])
  })

  it('settlement: quotes what a merchant sent, and prints a line of JSON for each', async () => {
    const id = await stored(loja, '2026-01-02T00:00:00Z', captured('2026-01-02T00:00:00Z'), 'order "7", blue')
    const range = ['--from', '2026-01-02', '--to', '2026-01-02']
    expect((await run('settlement', ...range)).out).to.contain(`${loja},${id},"order ""7"", blue",,1,visa,0060`)
    const json = JSON.parse((await run('settlement', ...range, '--json')).out)
    expect(json).to.include({ type: 'capture', amount_cents: 1_000, currency: 'BRL', payment_id: id })
  })

  it('says what is wrong with its days', async () => {
    expect((await run('settlement')).code).to.equal(2)
    const reversed = await run('settlement', '--from', '2026-02-01', '--to', '2026-01-01')
    expect(reversed).to.include({ code: 2, out: '' })
    expect(reversed.err).to.contain('The last day is before the first one.')
  })
})
