import { expect } from 'chai'
import type { Lease } from '../../../machines/lease.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { keys } from '../../../redis/keys.js'
import { createPaymentLock } from '../../../redis/locks/payment-lock.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'

const log = createLogger('test', 'silent')

describe('payment lock', () => {
  const test = useRedis()
  const clients: Redis[] = []

  const lockWith = async (ttlMs: number) => {
    const client = await connect(test.secretsUrl, 'lock', log)
    clients.push(client)
    return createPaymentLock([client], ttlMs, log)
  }
  afterEach(async () => {
    endAllSwitched()
    await Promise.all(clients.splice(0).map(disconnect))
    await test.secrets.flushdb()
  })

  it('runs the work of one holder at a time, and gives its result', async () => {
    const [a, b] = [await lockWith(5_000), await lockWith(5_000)]
    const result = await a.withLock('p1', async () => {
      expect(await b.withLock('p1', async () => 'never')).to.equal('taken')
      expect(await b.withLock('p2', async () => 'other')).to.equal('other')
      return 'done'
    })
    expect(result).to.equal('done')
    await until('the lock is free', async () => (await b.withLock('p1', async () => 'mine')) === 'mine')
  })

  it('gives each of many callers its own lock, and a lock that is taken to none of them', async () => {
    const [a, b] = [await lockWith(5_000), await lockWith(5_000)]
    const names = ['first', 'p1', 'p2', 'p2', 'p3', 'taken']
    let holders = 0
    await b.withLock('taken', async () => {
      const outcomes = await Promise.all(
        names.map(name =>
          a.withLock(name, async () => {
            holders++
            await until('the others have theirs', () => holders === 4)
            return (await b.withLock(name, async () => 'not locked')) === 'taken' ? 'locked' : 'not locked'
          })
        )
      )
      expect(outcomes.filter(outcome => outcome === 'taken')).to.have.length(2)
      expect(outcomes.filter(outcome => outcome === 'locked')).to.have.length(4)
      expect(outcomes.at(-1)).to.equal('taken')
    })
    for (const name of names) await until('it is free', async () => (await b.withLock(name, async () => 1)) === 1)
  })

  it('is free again after work that failed', async () => {
    const lock = await lockWith(5_000)
    const failure = await lock.withLock('p1', () => Promise.reject(new Error('broken'))).catch((error: Error) => error)
    expect(failure).to.have.property('message', 'broken')
    await until('the lock is free', async () => (await lock.withLock('p1', async () => 'mine')) === 'mine')
  })

  it('is renewed for as long as the work takes', async () => {
    const lock = await lockWith(1_000)
    await untilOneIsKept(() =>
      lock.withLock('p1', async lease => {
        await delay(2_200)
        return !lease.isLost() && (await test.secrets.exists(keys.lock('p1'))) === 1
      })
    )
  })

  it('tells its holder when it is lost', async () => {
    const lock = await lockWith(300)
    await lock.withLock('p1', async lease => {
      await test.secrets.set(keys.lock('p1'), 'another holder')
      await until('the holder hears of it', () => lease.isLost())
    })
    expect(await test.secrets.get(keys.lock('p1'))).to.equal('another holder')
  })

  it('stays with its holder while a server that does not answer a renewal may still have it', async () => {
    await untilOneIsKept(() => {
      const server = new SlowToRenew()
      return createPaymentLock([server.client], 1_000, log).withLock('p1', async lease => {
        await until('the lock is being renewed, or lost', () => server.renewal !== null || lease.isLost())
        server.renewal?.reject(new Error('Connection is closed.'))
        await delay(1_500)
        return !lease.isLost()
      })
    })
  })

  it('ignores a loss that comes after the release', async () => {
    const server = await until('a lock is being renewed', async () => {
      const asked = new SlowToRenew()
      const isOver = (lease: Lease): boolean => asked.renewal !== null || lease.isLost()
      await createPaymentLock([asked.client], 100, log).withLock('p1', lease => until('a renewal', () => isOver(lease)))
      return asked.renewal !== null && asked
    })
    const lock = createPaymentLock([server.client], 60_000, log)
    await lock.withLock('p2', async lease => {
      server.renewal?.reject(new Error('another holder has the lock'))
      await new Promise(resolve => setImmediate(resolve))
      expect(lease.isLost()).to.equal(false)
    })
  })

  it('rejects while an earlier lock may live, works without one afterwards, and locks again when the server is back', async () => {
    const server = new Switched(test.secrets)
    const lock = createPaymentLock([server.client], 400, log)
    const tried = () => lock.withLock('p1', async lease => lease.isLost()).catch((error: Error) => error.message)
    let heldMs = 0
    await until('a try is rejected, soon after a lock was held', async () => {
      server.isAway = false
      await until('a lock is held', async () => (await tried()) === false)
      heldMs = performance.now()
      server.isAway = true
      return (await tried()) === 'Connection is closed.'
    })
    await until('the work is done without a lock', async () => (await tried()) === false)
    expect(performance.now() - heldMs).to.be.at.least(400)
    await lock.withLock('p1', () => until('another one works too', async () => (await tried()) === false))
    server.isAway = false
    await until('payments are locked again', async () => {
      const found = await lock.withLock('p1', tried).catch(() => false)
      return found === 'taken'
    })
  })

  it('continues without a lock while servers return only for moments', async () => {
    const server = new Switched(test.secrets)
    const lock = createPaymentLock([server.client], 700, log)
    const tried = () => lock.withLock('p1', async () => 'done').catch((error: Error) => error.message)
    server.isAway = true
    const blinking = setInterval(() => {
      server.isAway = !server.isAway
    }, 300)
    await until('the work is done', async () => server.isAway && (await tried()) === 'done')
    clearInterval(blinking)
    server.isAway = false
  })

  it('counts a new outage from its own beginning', async () => {
    const server = new Switched(test.secrets)
    const lock = createPaymentLock([server.client], 400, log)
    const tried = () => lock.withLock('p1', async () => 'done').catch((error: Error) => error.message)
    for (const _ of [1, 2]) {
      await until('a new outage begins', async () => {
        server.isAway = false
        // The lock looks twice a second whether its server is back.
        await delay(2_000)
        server.isAway = true
        return (await tried()) === 'Connection is closed.'
      })
      await until('the work is done without a lock', async () => (await tried()) === 'done')
    }
  })
})

describe('payment lock of a process that was suspended', () => {
  const test = useRedis()
  let server: Switched
  beforeEach(() => {
    server = new Switched(test.secrets)
  })
  afterEach(endAllSwitched)

  it('lets a process that was suspended begin no call, before any timer runs: with a lock, and without one', async () => {
    const lock = createPaymentLock([server.client], 300, log)
    const suspended = () =>
      lock
        .withLock('p1', async lease => {
          const endsMs = Date.now() + 400
          while (Date.now() < endsMs);
          return lease.isLost()
        })
        .catch((error: Error) => error.message)
    expect(await suspended()).to.equal(true)
    server.isAway = true
    await until('the work is done without a lock', async () => (await suspended()) === true)
    await untilOneIsKept(() => lock.withLock('p1', async lease => !lease.isLost()))
  })

  it('renews the time of a holder without a lock for as long as its process runs', async () => {
    const lock = createPaymentLock([server.client], 400, log)
    const tried = () => lock.withLock('p1', async () => 'done').catch((error: Error) => error.message)
    server.isAway = true
    await until('the work is done without a lock', async () => (await tried()) === 'done')
    await untilOneIsKept(() =>
      lock.withLock('p1', async lease => {
        await delay(1_000)
        return !lease.isLost()
      })
    )
  })
})

/** A process that is not scheduled for the life of a lock loses it: then another try must keep it. */
async function untilOneIsKept(isKept: () => Promise<boolean | 'taken'>): Promise<void> {
  await until('a lock is kept', async () => (await isKept().catch(() => false)) === true)
}

/** A client that was disconnected is not probed any more: what follows an outage ends. */
function endAllSwitched(): void {
  for (const server of Switched.all.splice(0)) {
    server.isAway = false
    Object.assign(server.client, { status: 'end' })
  }
}

/** A lock server that can be taken away. */
class Switched {
  static readonly all: Switched[] = []
  isAway = false
  readonly client: Redis
  constructor(redis: Redis) {
    Switched.all.push(this)
    this.client = {
      status: 'ready',
      evalsha: (...args: Parameters<Redis['evalsha']>) =>
        this.isAway ? Promise.reject(new Error('Connection is closed.')) : redis.evalsha(...args),
      eval: (...args: Parameters<Redis['eval']>) => redis.eval(...args)
    } as unknown as Redis
  }
}

/** A lock server that grants everything, but does not answer the first renewal until it is told to. */
class SlowToRenew {
  renewal: { reject: (error: Error) => void } | null = null
  readonly client = { evalsha: (hash: string) => this.#answer(hash) } as unknown as Redis
  #acquireHash = ''

  #answer(hash: string): Promise<number> {
    if (this.#acquireHash === '') this.#acquireHash = hash
    if (hash === this.#acquireHash || this.renewal !== null) return Promise.resolve(1)
    return new Promise((_, reject) => {
      this.renewal = { reject }
    })
  }
}
