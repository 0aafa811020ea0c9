import { expect } from 'chai'
import type { Redis, Role } from '../../../redis/connection/connections.js'
import { type BlackholeProxy, startBlackholeProxy } from '../../chaos/blackhole-proxy.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'
import { lateWorkers, openWorker, type Worker } from '../../support/redis-kinds.js'

const ROLES: readonly Role[] = ['commands', 'blocking', 'subscriber', 'lock']
/** Ten seconds of a quiet machine. */
const BACK_WITHIN_ROUNDS = 200

/** A host that vanishes sends neither FIN nor RST. The kernel gives such a connection up after about 15 minutes. */
describe('connections to a Redis that goes silent without closing them', () => {
  const test = useRedis()
  const opened: Redis[] = []
  let proxy: BlackholeProxy

  beforeEach(async () => {
    proxy = await startBlackholeProxy(test.url)
  })
  afterEach(async () => {
    for (const redis of opened.splice(0)) redis.disconnect()
    await proxy.stop()
  })

  const open = async (role: Role): Promise<Worker> => {
    const worker = await openWorker(proxy.url, role, () => test.redis)
    opened.push(worker.redis)
    return worker
  }

  it('work again within 10 s, in each role', async () => {
    const workers: Worker[] = []
    for (const role of ROLES) workers.push(await open(role))
    const server = { port: Number(new URL(test.url).port) }
    expect(await lateWorkers([server], workers, BACK_WITHIN_ROUNDS)).to.deep.equal([])
    proxy.blackhole()
    expect(await lateWorkers([server], workers, BACK_WITHIN_ROUNDS)).to.deep.equal([])
    expect([proxy.silenced(), proxy.resets()]).to.deep.equal([0, ROLES.length])
  })

  it('are cut although they are idle, before they are needed', async () => {
    const commands = await open('commands')
    proxy.blackhole()
    await until('the silent connection is cut', () => proxy.resets() === 1)
    await until('another one works', () => commands.work().catch(() => undefined))
  })
})
