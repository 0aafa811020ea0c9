import { expect } from 'chai'
import { paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { connect, type Redis, type Role } from '../../../redis/connection/connections.js'
import { keys, PAYMENTS_GROUP } from '../../../redis/keys.js'
import { createPaymentLock } from '../../../redis/locks/payment-lock.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { type BlackholeProxy, startBlackholeProxy } from '../../chaos/blackhole-proxy.js'
import { useRedis } from '../../support/redis.js'

/** A host that vanishes sends neither FIN nor RST. The kernel gives such a connection up after about 15 minutes. */
describe('connections to a Redis that goes silent without closing them', () => {
  const RECOVERY_MAX_MS = 10_000
  const PARTITION = 3
  const test = useRedis()
  const log = createLogger('test', 'silent')
  const opened: Redis[] = []
  let proxy: BlackholeProxy

  beforeEach(async () => {
    proxy = await startBlackholeProxy(test.url)
  })
  afterEach(async () => {
    for (const redis of opened.splice(0)) redis.disconnect()
    await proxy.stop()
  })

  const open = async (role: Role): Promise<Redis> => {
    const redis = await connect(proxy.url, role, log)
    opened.push(redis)
    return redis
  }

  /** Milliseconds until `work` succeeds, which is tried again and again; Infinity after 20 s. */
  const recoveryMs = async (work: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now()
    const elapsedMs = (): number => performance.now() - startedMs
    for (;;) {
      const tried = await Promise.race([
        work().then(
          () => true,
          () => delay(50)
        ),
        delay(20_000 - elapsedMs())
      ])
      if (tried === true) return elapsedMs()
      if (elapsedMs() >= 20_000) return Number.POSITIVE_INFINITY
    }
  }

  it('work again within 10 s, in each role', async () => {
    const [commands, blocking, subscriber, lock] = [
      await open('commands'),
      await open('blocking'),
      await open('subscriber'),
      await open('lock')
    ]
    await test.redis.xgroup('CREATE', keys.commands(PARTITION), PAYMENTS_GROUP, '0', 'MKSTREAM')
    const locks = createPaymentLock([lock], 5_000, log)
    let heard = 0
    subscriber.on('message', () => heard++)
    await subscriber.subscribe('silent-server-test')
    const hearing = async (): Promise<void> => {
      const before = heard
      await test.redis.publish('silent-server-test', 'a message')
      await delay(20)
      if (heard === before) throw new Error('the message was not heard')
    }
    const all = (): Promise<number[]> =>
      Promise.all([
        recoveryMs(() => commands.set('silent-server-test', '1')),
        recoveryMs(() => readCommands(blocking, paymentWork, 'worker', [PARTITION], 1)),
        recoveryMs(hearing),
        recoveryMs(() => locks.withLock('silent-server-test', async () => undefined))
      ])
    await all()
    proxy.blackhole()
    const took = await all()
    expect(Math.max(...took), `recovered after ${took.map(ms => Math.round(ms)).join(', ')} ms`).to.be.below(
      RECOVERY_MAX_MS
    )
    expect([proxy.silenced(), proxy.resets()]).to.deep.equal([0, 4])
  })

  it('are cut although they are idle, before they are needed', async () => {
    const commands = await open('commands')
    proxy.blackhole()
    await delay(8_000)
    const startedMs = performance.now()
    await commands.set('silent-server-test', '1')
    // The connection that is silent would be cut after 5 s.
    expect(performance.now() - startedMs).to.be.below(3_000)
  })
})
