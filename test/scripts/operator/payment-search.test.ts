import { expect } from 'chai'
import { operate } from '../../support/operator.js'
import { references } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { storePayment } from '../../support/stored-payments.js'

describe('operator payment search', () => {
  const servers = useRedis()
  let [loja, padaria] = ['', '']

  const run = (...args: string[]) => operate({ SERVICE_ENV: 'test', REDIS_URL: servers.url }, args)
  const newMerchant = async (name: string) =>
    ((await run('merchant', 'create', name, '--json')).json() as { merchant_id: string }).merchant_id
  const ids = async (...args: string[]) => {
    const found = (await run('payment', 'search', ...args, '--json')).json() as { payment_id: string }[]
    return found.map(({ payment_id: id }) => id)
  }
  const paid = async (
    merchantId: string,
    at: string,
    more: { nsu?: string; last4?: string; reference?: string; amountCents?: number }
  ) => {
    const { nsu = references.nsu, last4 = '0060', reference: externalReference = 'order-1', amountCents = 1_000 } = more
    return await storePayment(servers.redis, merchantId, Date.parse(at), {
      terms: { externalReference, amountCents, card: { brand: 'visa', last4, cardId: null } },
      progress: { status: 'captured', references: { ...references, nsu } }
    })
  }

  beforeEach(async () => {
    await servers.redis.flushdb()
    loja = await newMerchant('Loja')
    padaria = await newMerchant('Padaria')
  })

  it('finds an external reference with all merchants, or with one', async () => {
    const first = await paid(loja, '2026-01-31T12:00:00Z', { reference: 'order-7' })
    const second = await paid(padaria, '2026-02-01T12:00:00Z', { reference: 'order-7' })
    await paid(loja, '2026-01-31T12:00:00Z', { reference: 'order-8' })
    expect(await ids('order-7')).to.have.members([first, second])
    expect(await ids('order-7', '--merchant', padaria)).to.deep.equal([second])
    expect(await ids('order-7', '--on', '2026-01-31')).to.deep.equal([first])
    expect((await run('payment', 'search', 'order-9')).out).to.equal('There is no such payment.\n')
  })

  it('finds an NSU, a TID and the last digits of a card on a day of a time zone', async () => {
    const night = await paid(loja, '2026-02-01T02:59:59Z', { nsu: '777777', last4: '1111' })
    const later = await paid(padaria, '2026-02-01T03:00:00Z', { nsu: '777777', last4: '2222' })
    const saoPaulo = ['--zone', 'America/Sao_Paulo']
    expect(await ids('--number', '777777', '--on', '2026-01-31', ...saoPaulo)).to.deep.equal([night])
    expect(await ids('--number', '777777', '--on', '2026-02-01', ...saoPaulo)).to.deep.equal([later])
    expect(await ids('--number', '777777', '--on', '2026-02-01')).to.have.members([night, later])
    expect(await ids('--number', String(references.tid), '--last4', '2222', '--on', '2026-02-01')).to.deep.equal([
      later
    ])
    expect(await ids('--last4', '3333', '--on', '2026-02-01')).to.deep.equal([])
  })

  it('finds an amount on a day', async () => {
    const wanted = await paid(loja, '2026-01-31T12:00:00Z', { amountCents: 12_900 })
    await paid(loja, '2026-01-31T12:00:00Z', { amountCents: 12_901 })
    expect(await ids('--amount', '12900', '--on', '2026-01-31')).to.deep.equal([wanted])
  })

  it('lists 100, or as many as --limit says, and says when there are more', async () => {
    for (let index = 0; index < 102; index++) await paid(loja, '2026-01-31T12:00:00Z', {})
    const first = ['payment', 'search', '--last4', '0060', '--on', '2026-01-31']
    expect((await run(...first)).out).to.contain('There are more than these 100: add --limit')
    expect(await ids('--last4', '0060', '--on', '2026-01-31', '--limit', '1000')).to.have.length(102)
  })

  it('reads many pages at the given rate, and shows its progress', async () => {
    for (let index = 0; index < 250; index++) await paid(loja, '2026-01-31T12:00:00Z', { last4: '1111' })
    const wanted = await paid(loja, '2026-01-31T01:00:00Z', {})
    const shown: string[] = []
    const startedMs = performance.now()
    const { out } = await operate(
      { SERVICE_ENV: 'test', REDIS_URL: servers.url },
      ['payment', 'search', '--last4', '0060', '--on', '2026-01-31', '--rate', '500', '--merchant', loja],
      { terminal: line => void shown.push(line) }
    )
    expect(out).to.contain(wanted)
    expect(performance.now() - startedMs).to.be.above(400)
    expect(shown.at(-2)).to.equal(`[${'#'.repeat(30)}] 100 %, 251 payments read`)
    expect(shown.at(-1)).to.equal('')
  })

  for (const [args, message] of [
    [[], /give something to search for/],
    [['--number', '1'], /give the day on which/],
    [['--last4', '1', '--on', '2026-02-30'], /Give a day such as/],
    [['--last4', '1', '--on', '2026-02-01', '--zone', 'Mars'], /no such time zone/]
  ] as const) {
    it(`says what is missing: ${args.join(' ')}`, async () => {
      const { code, err } = await run('payment', 'search', ...args)
      expect(code).to.equal(2)
      expect(err).to.match(message)
    })
  }
})
