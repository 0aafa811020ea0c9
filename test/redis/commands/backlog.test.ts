import { expect } from 'chai'
import { unreadAges, watchBacklog } from '../../../redis/commands/backlog.js'
import { DOUBT_AGES_S, queueStatus } from '../../../redis/commands/queue-status.js'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createCommitStore } from '../../../redis/payments/commits.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { aDoubt, anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

describe('the backlog', () => {
  const test = useRedis()
  const add = (id: string): Promise<unknown> => test.redis.xadd(keys.commands(PARTITION), id, 'e', '[1]')
  afterEach(async () => {
    await test.redis.flushdb()
  })

  it('is zero without streams or commands', async () => {
    expect(await unreadAges(test.redis, 2)).to.deep.equal([0, 0])
    await ensureGroups(test.redis, 2, paymentWork)
    expect(await unreadAges(test.redis, 2)).to.deep.equal([0, 0])
  })

  it('is the age of the oldest command that no worker has taken, even while there never was one', async () => {
    await add(`${Date.now() - 60_000}-0`)
    expect((await unreadAges(test.redis, PARTITION + 1))[PARTITION]).to.be.within(59_000, 600_000)
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
    expect((await unreadAges(test.redis, PARTITION + 1))[PARTITION]).to.be.within(59_000, 600_000)
    await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 10)
    expect((await unreadAges(test.redis, PARTITION + 1))[PARTITION]).to.equal(0)
    await add(`${Date.now() - 5_000}-0`)
    expect((await unreadAges(test.redis, PARTITION + 1))[PARTITION]).to.be.within(4_000, 55_000)
  })

  it('is checked only after an age was read', async () => {
    await add(`${Date.now() - 60_000}-0`)
    const backlog = watchBacklog(test.redis, PARTITION + 1, createLogger('api', 'silent'))
    try {
      await delay(1_200)
      expect(backlog.ageMs(PARTITION)).to.equal(0)
      await until('the age is known', () => backlog.ageMs(PARTITION) > 59_000)
    } finally {
      backlog.stop()
    }
  })

  it('of payments in doubt is counted by age, until the doubt is over', async () => {
    const nowMs = Date.now()
    const payment = aPayment({ idempotencyKey: 'r1' })
    await createPaymentStore(unreplicated(test.redis)).acceptPayment(
      payment,
      createCommand,
      anAcceptance({ idempotencyKey: 'r1' })
    )
    const commit = (version: number, sinceMs: number | null, changes = {}): Promise<unknown> => {
      const openedMs = sinceMs === null ? 0 : sinceMs - 86_400_000
      const reconciliation = sinceMs === null ? null : aDoubt(sinceMs, { openedMs, attempts: 1, nextAtMs: nowMs })
      const changed = { ...payment, version, progress: { ...payment.progress, reconciliation, ...changes } }
      const rest = {
        statusBefore: 'pending',
        wake: { expiryAtMs: null, reconcileAtMs: null },
        operationResult: null,
        nowMs,
        ends: null,
        begins: null
      } as const
      return createCommitStore(unreplicated(test.redis)).commit({ payment: changed, ...rest }, PARTITION)
    }
    const inDoubt = async (): Promise<number[]> => {
      const rows = await queueStatus(test.redis, PARTITION + 1, nowMs)
      return DOUBT_AGES_S.map(age => rows[PARTITION]?.inDoubt[age] ?? 0)
    }
    expect(await inDoubt()).to.deep.equal([0, 0, 0, 0, 0])
    expect(await commit(2, nowMs - 700_000)).to.equal('committed')
    expect(await inDoubt()).to.deep.equal([1, 1, 1, 0, 0])
    // The capture is tried again, and gets no answer again.
    expect(await commit(3, nowMs)).to.equal('committed')
    expect(await inDoubt()).to.deep.equal([1, 1, 1, 0, 0])
    expect(await commit(4, null)).to.equal('committed')
    expect(await inDoubt()).to.deep.equal([0, 0, 0, 0, 0])
    // Failed by the silence of the network, and looked for once more an hour later: no reason for an alert.
    const late = aDoubt(nowMs, { nextAtMs: nowMs + 3_600_000 })
    expect(await commit(5, null, { phase: 'watched', reconciliation: late })).to.equal('committed')
    expect(await inDoubt()).to.deep.equal([0, 0, 0, 0, 0])
    expect(await commit(6, null, { phase: 'watched', reconciliation: { ...late, attempts: 1 } })).to.equal('committed')
    expect(await inDoubt()).to.deep.equal([1, 0, 0, 0, 0])
  })
})
