import { expect } from 'chai'
import { encodeLetter } from '../../../redis/commands/stored-dead-letter.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../../../redis/keys.js'
import { until } from '../../support/conditions.js'
import { asOperator, withRedis } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'
import { aWake } from '../../support/payments.js'

describe('an operator', () => {
  const { service, merchant, network } = usePayingService()
  const run = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)

  it('shows the history of a payment as a timeline', async () => {
    const { id } = (await merchant.create({ capture: false, reference: 'order-of-the-timeline' })).payment
    await merchant.capture(id, { amount: 991 })
    await merchant.capture(id, { amount: 6_000 })
    await merchant.cancel(id, { amount: 1_000 })
    const { code, out } = await run('payment', 'history', id)
    expect(code).to.equal(0)
    const lines = out.trimEnd().split('\n')
    expect(lines[0]).to.match(/^TIME +AFTER +EVENT +STATUS +DETAIL$/)
    expect(lines.slice(1).map(line => line.split(/ {2,}/).slice(-3).join(' ').trim())).to.satisfy((rows: string[]) =>
      [
        'CAPTURE',
        'OPERATION_FAILED',
        'pre_authorized',
        'rejected: code 842',
        'amount 6000',
        'captured',
        'refunding (sending)'
      ].every(word => rows.some(row => row.includes(word)))
    )
    expect(lines[lines.length - 1]).to.match(/^\S+Z +\+\d+ ms +APPROVED +partially_refunded$/)
  })

  it('shows a payment with its references at the network, as text and as JSON', async () => {
    const { id } = (await merchant.create({ reference: 'order-of-the-show' })).payment
    const [sale] = network.sales(id)
    const { out } = await run('payment', 'show', id)
    for (const text of ['captured_cents  ', ' 10000\n', 'order-of-the-show', sale?.paymentId ?? '-', 'APPROVED']) {
      expect(out).to.contain(text)
    }
    const shown = (await run('payment', 'show', id, '--json')).json() as Record<string, Record<string, unknown>>
    expect(shown['network']).to.include({ sale_id: sale?.paymentId, order_id: id.replaceAll('-', '') })
    expect(JSON.stringify(shown)).not.to.contain('ada@example.com')
    expect((await run('payment', 'history', '--payment', id, '--json')).json()).to.be.an('array')
  })

  it('reports what is wrong with an id', async () => {
    const unknown = await run('payment', 'show', '019a0000-0000-7000-8000-000000000001')
    expect([unknown.code, unknown.err]).to.deep.equal([
      1,
      'error: There is no payment 019a0000-0000-7000-8000-000000000001 in this installation. `payment search` finds ids.\n'
    ])
    expect((await run('payment', 'show', '019a0000-0000-7000-8000-000000000fff')).code).to.equal(1)
    expect((await run('payment', 'show', 'order-1')).code).to.equal(2)
    expect((await run('payment', 'show')).code).to.equal(2)
    const { id } = (await merchant.create()).payment
    expect((await run('payment', 'settle-attention', id)).err).to.contain(
      `Payment ${id} is not listed for manual review.`
    )
  })

  it('shows wake-ups, commands in work and dead letters', async () => {
    await merchant.create({ capture: false })
    network.hold('arrived')
    const { id } = (await merchant.create({ waitS: 0 })).payment
    await until('it is in flight', () => network.held >= 1)
    // Commands of earlier payments may still be in work.
    const total = await until('it is alone', async () => {
      const { total } = (await run('queue', 'status', '--json')).json() as { total: Record<string, number> }
      return total['length'] === 1 && total['due'] === 0 && total
    })
    expect(total['workers']).to.be.at.least(2)
    expect(total['scheduled']).to.be.above(0)
    expect(total['oldest_age_ms']).to.be.at.least(0)
    expect((await run('queue', 'oldest')).out).to.match(new RegExp(`^PARTITION .*\\n\\d+ .* ${id} +create +0 `))
    const { out } = await run('queue', 'status')
    expect(out).to.match(
      /^PARTITION +LENGTH +PENDING +OLDEST AGE MS +SCHEDULED +DUE +RECONCILE DUE +DEAD LETTERS +IN REVIEW +IN DOUBT\n/
    )
    expect(out)
      .to.match(/\nall +\d+ +\d+ /)
      .and.to.match(/\nLive workers, .*: [2-9]\.\n/)
    network.answerHeld()
    await merchant.settled(id)
  })

  it('replays dead letters, and discards one that is not a command', async () => {
    const { id } = (await merchant.create({ capture: false })).payment
    const partition = partitionOfPayment(id)
    await withRedis(service(), async redis => {
      const letter = encodeLetter({ reason: 'failed in a test', deadLetteredAtMs: 1_767_355_200_000 })
      const wake = aWake(paymentKeyOf(id), { deliveryCount: 5 })
      await redis.xadd(keys.deadLetters(partition), '*', ...wake, ...letter)
      await redis.xadd(keys.commands(partition), '*', 'nonsense', 'of a stranger')
    })
    const letters = async (): Promise<Record<string, string | null>[]> =>
      (await run('dead-letter', 'list', '--json')).json() as Record<string, string | null>[]
    await until('the nonsense is put aside', async () => (await letters()).length === 2)
    const [ours, nonsense] = (await letters()).sort(
      (a, b) => Number(a['command'] === null) - Number(b['command'] === null)
    )
    expect(ours).to.include({ payment_id: id, command: 'wake', reason: 'failed in a test' })
    expect(ours).to.include({ dead_lettered_at: '2026-01-02T12:00:00.000Z' })
    expect((await run('dead-letter', 'list')).out).to.contain('is not a command')
    expect((await run('dead-letter', 'discard', ours?.['letter_id'] ?? '', '--yes')).err).to.contain('Replay it')
    const replayed = await run('dead-letter', 'replay', ours?.['letter_id'] ?? '')
    expect(replayed.out).to.equal(`The wake of payment ${id} is in the queue of the workers again.\n`)
    expect((await run('dead-letter', 'replay', ours?.['letter_id'] ?? '')).err).to.contain('There is no dead letter')
    expect((await run('dead-letter', 'replay', nonsense?.['letter_id'] ?? '')).err).to.contain("can't be replayed")
    expect(nonsense?.['fields']).to.include({ nonsense: 'of a stranger' })
    expect((await run('dead-letter', 'replay')).err).to.contain('name a dead letter, or give --all')
    for (const kind of ['', 'captures']) {
      expect((await run('dead-letter', 'replay', '--command', kind)).err).to.contain('Known: create, capture')
    }
    expect((await run('dead-letter', 'replay', '--because', ' ')).err).to.contain('Give 1 to 500 characters')
    await withRedis(service(), redis =>
      redis.xadd(
        keys.deadLetters(partition),
        '*',
        ...aWake(paymentKeyOf(id)),
        ...encodeLetter({ reason: 'failed', deadLetteredAtMs: 1 })
      )
    )
    expect((await run('dead-letter', 'replay', '--command', 'capture')).out).to.contain('0 commands are in the queue')
    expect((await run('dead-letter', 'replay', '--since', '2026-01-02T12:00:00Z')).out).to.contain('0 commands are in')
    expect((await run('dead-letter', 'replay', '--all', '--json')).json()).to.deep.equal({ replayed: 1, left: 1 })
    const discarded = await run('dead-letter', 'discard', nonsense?.['letter_id'] ?? '', '--yes')
    expect(discarded.out).to.contain('"nonsense":"of a stranger"')
    expect(await letters()).to.deep.equal([])
    await until('nothing waits', async () => {
      const { total } = (await run('queue', 'status', '--json')).json() as { total: { length: number } }
      return total.length === 0
    })
  })

  it('moves the clock of the test environment, and resets it', async () => {
    expect((await run('clock', 'advance', 'tomorrow')).err).to.contain('"tomorrow" is not a span of time')
    const before = (await run('clock', 'show', '--json')).json() as { offset_ms: number }
    const after = (await run('clock', 'advance', '2h', '--json')).json() as { offset_ms: number; now: string }
    expect(after.offset_ms - before.offset_ms).to.equal(7_200_000)
    const { payment } = await merchant.create()
    expect(Date.parse(payment.created_at)).to.be.within(Date.parse(after.now) - 1_000, Date.parse(after.now) + 600_000)
    expect((await run('clock', 'reset')).out).to.contain('the real time')
    const { payment: now } = await merchant.create()
    expect(Math.abs(Date.parse(now.created_at) - Date.now())).to.be.below(600_000)
  })
})
