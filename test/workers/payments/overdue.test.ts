import { expect } from 'chai'
import type { CardSource } from '../../../machines/commands.js'
import { paymentKeyOf } from '../../../redis/keys.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import type { TestWorker } from '../../support/worker.js'

const HOUR_MS = 3_600_000

describe('a create that no worker took for hours', () => {
  const test = useRedis()
  let path: CommandPath
  let worker: TestWorker
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
    worker = path.worker()
    worker.clock.atMs = Date.now() + 3 * HOUR_MS
  })

  const create = (source: CardSource, key = 'k1') => path.payments.create(aScope(key), aCreateRequest(source, '123'))

  it('fails by stored card: nothing is sent, and a repeated request gets the same result', async () => {
    const card = await path.storedCard()
    await create(card)
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    const result = { kind: 'failed', code: 'authorization_overdue' }
    expect(await create(card)).to.deep.include({ kind: 'finished', result, isReplay: true })
    expect(await test.secrets.keys('cvv:*')).to.deep.equal([])
  })

  it('gives its token back', async () => {
    const token = await path.token()
    await create(token)
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    expect((await path.tokens.peek(token.tokenId))?.owner).to.equal(null)
  })

  it('is reconciled when it was begun before: it may have been sent', async () => {
    const answer = await create(await path.storedCard())
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    await worker.handle({ ...(await worker.beginOne()), delivery: 'another' })
    const stored = await path.deps.store.load(PARTITION, paymentKeyOf(answer.terms.id))
    expect(stored?.progress).to.deep.include({ status: 'unknown', error: null })
  })

  it('is sent up to the moment that it was accepted for', async () => {
    const answer = await create(await path.storedCard())
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    worker.clock.atMs = answer.terms.createdAtMs + path.deps.config.authoriseWithinMs
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['authorise'])
  })
})
