import { expect } from 'chai'
import type { Role } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import {
  lateWorkers,
  openWorker,
  type RedisKind,
  startBehindSentinels,
  startCluster,
  startOverTls,
  startSingle,
  untilAllAnswer,
  type Worker
} from '../../support/redis-kinds.js'

/** Five seconds of a quiet machine. */
const BACK_WITHIN_ROUNDS = 100
/** How many connections of each role; the most of the one that times out when it is cut. */
const COUNTS: Record<Role, number> = { commands: 8, secrets: 3, blocking: 3, subscriber: 2, lock: 3 }
const KINDS = {
  'one server': startSingle,
  'one server over TLS': startOverTls,
  Sentinels: startBehindSentinels,
  'a Cluster': startCluster
}

/** A pause of its virtual machine or a stalled disk: the kernel keeps its connections, and takes new ones. */
describe('connections of each role to a server that is frozen', () => {
  const kinds = new Map<string, { servers: RedisKind; workers: Worker[] }>()
  let isBusy = true
  let toldNode: string | undefined

  const keepBusy = async ({ work }: Worker): Promise<void> => {
    while (isBusy) {
      await work().catch(() => undefined)
      await delay(20)
    }
  }

  before(async () => {
    toldNode = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    for (const [kind, start] of Object.entries(KINDS)) {
      const servers = await start()
      const workers: Worker[] = []
      kinds.set(kind, { servers, workers })
      const publisher = await openWorker(servers.url, 'commands', () => publisher.redis)
      workers.push(publisher)
      for (const [role, count] of Object.entries(COUNTS) as [Role, number][]) {
        for (let i = 0; i < count; i++) workers.push(await openWorker(servers.url, role, () => publisher.redis))
      }
      for (const worker of workers) void keepBusy(worker)
    }
  })
  after(async () => {
    isBusy = false
    for (const { servers, workers } of kinds.values()) {
      for (const { redis } of workers) redis.disconnect()
      await servers.stop()
    }
    if (toldNode === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = toldNode
  })

  for (const seconds of [3, 7, 11, 17]) {
    it(`work within 5 s of its return after ${seconds} s`, async () => {
      const signalAll = (signal: NodeJS.Signals): void => {
        for (const { servers } of kinds.values()) for (const node of servers.nodes) node.signal(signal)
      }
      signalAll('SIGSTOP')
      await delay(seconds * 1_000)
      signalAll('SIGCONT')
      const late: string[] = []
      await Promise.all(
        [...kinds].map(async ([kind, { servers, workers }]) => {
          await untilAllAnswer(servers.nodes)
          for (const one of await lateWorkers(servers.nodes, workers, BACK_WITHIN_ROUNDS)) late.push(`${kind}: ${one}`)
        })
      )
      expect(late).to.deep.equal([])
    })
  }
})
