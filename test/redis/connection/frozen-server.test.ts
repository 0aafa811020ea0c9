import { expect } from 'chai'
import type { Role } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import {
  lateWorkers,
  openWorker,
  overTls,
  type RedisKind,
  startBehindSentinels,
  startCluster,
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
  'one server over TLS': () => overTls(startSingle),
  Sentinels: startBehindSentinels,
  'a Cluster': startCluster,
  'Sentinels over TLS': () => overTls(startBehindSentinels),
  'a Cluster over TLS': () => overTls(startCluster)
}
/** Frozen at the same time: more handshakes than these keep one process busy for seconds. */
const TOGETHER = [Object.keys(KINDS).slice(0, 4), Object.keys(KINDS).slice(4)]
/** Other times are tried by hand: `FROZEN_S=33,70 npm test frozen-server`. */
const BY_HAND = process.env['FROZEN_S']?.split(',').map(Number)
const FROZEN_S = BY_HAND === undefined ? [[3, 7, 11, 17], [7]] : [BY_HAND, BY_HAND]

/** A pause of its virtual machine or a stalled disk: the kernel keeps its connections, and takes new ones. */
describe('connections of each role to a server that is frozen', () => {
  const kinds = new Map<string, { servers: RedisKind; workers: Worker[] }>()
  /** The kinds that are under load. */
  let busy: readonly string[] = []
  let toldNode: string | undefined

  const keepBusy = async (kind: string, { work }: Worker): Promise<void> => {
    for (; kinds.has(kind); await delay(20)) if (busy.includes(kind)) await work().catch(() => undefined)
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
      for (const worker of workers) void keepBusy(kind, worker)
    }
  })
  after(async () => {
    for (const [kind, { servers, workers }] of kinds) {
      kinds.delete(kind)
      for (const { redis } of workers) redis.disconnect()
      await servers.stop()
    }
    if (toldNode === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = toldNode
  })

  const cases = TOGETHER.flatMap((names, i) => FROZEN_S[i]?.map(seconds => ({ names, seconds })) ?? [])
  for (const { names, seconds } of cases) {
    it(`work within 5 s of its return after ${seconds} s: ${names.join(', ')}`, async () => {
      const frozen = [...kinds].filter(([kind]) => names.includes(kind))
      const signalAll = (signal: NodeJS.Signals): void => {
        for (const [, { servers }] of frozen) for (const node of servers.nodes) node.signal(signal)
      }
      busy = names
      // Until each has worked.
      await Promise.all(
        frozen.map(([, { servers, workers }]) => lateWorkers(servers.nodes, workers, BACK_WITHIN_ROUNDS))
      )
      signalAll('SIGSTOP')
      await delay(seconds * 1_000)
      signalAll('SIGCONT')
      const late: string[] = []
      await Promise.all(
        frozen.map(async ([kind, { servers, workers }]) => {
          await untilAllAnswer(servers.nodes)
          for (const one of await lateWorkers(servers.nodes, workers, BACK_WITHIN_ROUNDS)) late.push(`${kind}: ${one}`)
        })
      )
      expect(late).to.deep.equal([])
    })
  }
})
