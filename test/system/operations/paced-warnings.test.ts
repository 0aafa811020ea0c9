import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { Merchant, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** As in runtime/log.ts. */
const SILENCE_MS = 5_000
const CLIENTS = 24

interface Line {
  readonly level: string
  readonly process: string
  readonly pid: number
  readonly msg: string
  readonly role?: string
  readonly redis?: string
  readonly part?: string
  readonly time: string
}

/** With requests all the time: a log that grows with the load hides its cause. */
describe('the warnings of an outage', () => {
  const merchant = new Merchant(() => service)
  const log = createLogger('test', 'silent')
  let service: ServiceUnderTest
  let receiver: Receiver
  let isOver = false
  let buyers: Promise<void>[] = []
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'warn', RATE_LIMIT_PER_SECOND: '1000' } })
    receiver = await startReceiver()
    await registerHook(service, receiver.url)
    buyers = Array.from({ length: CLIENTS }, () => buy())
  })
  after(async () => {
    isOver = true
    await Promise.all(buyers)
    await receiver?.stop()
    await service?.stop()
  })

  async function buy(): Promise<void> {
    while (!isOver) {
      await merchant.create({ waitS: 1 }).catch(() => undefined)
      await pause(20)
    }
  }

  /** Lines of warnings and errors that one process repeated faster than once in `SILENCE_MS`, of those since `fromMs`. */
  function repeatedSince(fromMs: number): string[] {
    const lines = service
      .logs()
      .split('\n')
      .flatMap(text => (text.includes('{"level"') ? [JSON.parse(text.slice(text.indexOf('{'))) as Line] : []))
    const lastMs = new Map<string, number>()
    return lines.flatMap(({ level, process, pid, msg, role, redis, part, time }) => {
      const atMs = Date.parse(time)
      if (atMs < fromMs || level === 'info') return []
      const name = [process, pid, msg, role, redis, part].join(' ')
      const sinceMs = atMs - (lastMs.get(name) ?? 0)
      lastMs.set(name, atMs)
      return sinceMs < SILENCE_MS - 10 ? [`${name}: again after ${sinceMs} ms`] : []
    })
  }

  async function cutAll(url: string): Promise<void> {
    const redis: Redis = await connect(url, 'commands', log)
    await redis.call('CLIENT', 'KILL', 'SKIPME', 'yes').catch(() => undefined)
    await disconnect(redis)
  }

  for (const [name, outage] of [
    ['a memory-only Redis that is frozen', () => frozen('secrets-redis')],
    ['a durable Redis that is frozen', () => frozen('redis')],
    [
      'both that die again and again',
      async () => {
        for (let time = 0; time < 4; time++) {
          for (const server of ['redis', 'secrets-redis']) service.kill(server)
          await pause(2_000)
        }
      }
    ],
    [
      'both that lose their connections all the time',
      async () => {
        for (let time = 0; time < 40; time++) {
          await Promise.all([service.redisUrl, service.secretsRedisUrl].map(cutAll)).catch(() => undefined)
          await pause(200)
        }
      }
    ]
  ] as const) {
    it(`are paced: ${name}`, async () => {
      const fromMs = Date.now()
      await outage()
      await until('payments are taken', async () => (await merchant.create().catch(() => null))?.status === 201)
      expect(repeatedSince(fromMs)).to.deep.equal([])
      expect(service.logs().slice(-200_000)).to.contain('"level":"warn"')
    })
  }

  async function frozen(server: string): Promise<void> {
    service.kill(server, 'SIGSTOP')
    try {
      await pause(8_000)
    } finally {
      service.kill(server, 'SIGCONT')
    }
  }
})
