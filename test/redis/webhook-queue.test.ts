import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../redis/connections.js'
import { keys } from '../../redis/keys.js'
import { createWebhookQueue, type WebhookQueue } from '../../redis/webhook-queue.js'
import { createLogger } from '../../runtime/log.js'
import { useRedis } from '../support/redis.js'
import { emit, PARTITION, plainQueue } from '../support/webhooks.js'

const log = createLogger('test', 'silent')
const BEGINNING = '0-0'

describe('reading an outbox', () => {
  const test = useRedis()
  const connections: Redis[] = []

  const open = async (role: 'commands' | 'blocking'): Promise<Redis> => {
    const redis = await connect(test.url, role, log)
    connections.push(redis)
    return redis
  }
  const queueOn = (redis: Redis, blocking: Redis): WebhookQueue =>
    createWebhookQueue(redis, blocking, { ...plainQueue, now: () => 1 })
  const paymentsIn = (events: Awaited<ReturnType<WebhookQueue['readFresh']>>): string[] =>
    events.map(({ event }) => JSON.parse(event.body)['payment_id'])

  afterEach(async () => {
    await Promise.all(connections.splice(0).map(disconnect))
    await test.redis.flushdb()
  })

  it('begins at the start for the next owner of the partition, also while a read of the last one waits', async () => {
    const queue = queueOn(test.redis, await open('blocking'))
    const cursors = new Map([[PARTITION, BEGINNING]])
    const first = await emit(test, 'm_1', ['captured'])
    expect(paymentsIn(await queue.readFresh(cursors))).to.deep.equal([first])

    const waiting = queue.readFresh(cursors)
    cursors.set(PARTITION, BEGINNING)
    const second = await emit(test, 'm_1', ['captured'])
    const read = paymentsIn(await waiting)
    const readNext = paymentsIn(await queue.readFresh(cursors))
    expect([...read, ...readNext]).to.deep.equal([first, second])
  })

  it('passes nothing over when Redis is away while an entry is buried that is no event', async () => {
    await test.redis.xadd(keys.outbox(PARTITION), '*', 'nonsense', '1')
    const paymentId = await emit(test, 'm_1', ['captured'])
    const [closed, blocking] = [await open('commands'), await open('blocking')]
    await disconnect(closed)
    const cursors = new Map([[PARTITION, BEGINNING]])
    const failure = await queueOn(closed, blocking)
      .readFresh(cursors)
      .then(
        () => null,
        (error: unknown) => error
      )
    expect(failure).to.be.an('error')

    expect(paymentsIn(await queueOn(test.redis, blocking).readFresh(cursors))).to.deep.equal([paymentId])
    expect(await test.redis.xlen(keys.deadLetters(PARTITION))).to.equal(1)
  })
})
