import { expect } from 'chai'
import { mastersOf } from '../../../redis/connection/cluster-nodes.js'
import { connect, disconnect, type Redis, type Role } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import {
  lateWorkers,
  openWorker,
  type RedisKind,
  startBehindSentinels,
  startCluster,
  startSingle,
  type Worker
} from '../../support/redis-kinds.js'
import type { RedisNode } from '../../support/redis-node.js'

const ROLES: readonly Role[] = ['commands', 'secrets', 'blocking', 'subscriber', 'lock']
/** Usually 1 to 4 s of 15 s. */
const BACK_WITHIN_ROUNDS = 300
const USER = ['ACL', 'SETUSER', 'narrow']

/** What an administrator does, and what ends it. Each one refuses a reconnecting client at another step. */
const REFUSALS: Record<string, { readonly begin: string[]; readonly end: string[] }> = {
  'another password': { begin: [...USER, 'resetpass', '>other'], end: [...USER, 'resetpass', '>word'] },
  'a user that is off': { begin: [...USER, 'off'], end: [...USER, 'on'] },
  'no right to choose the database': { begin: [...USER, '-select'], end: [...USER, '+select'] },
  'no right to any command': { begin: [...USER, '-@all', '+info'], end: [...USER, '+@all'] },
  'no right to the channels': { begin: [...USER, 'resetchannels'], end: [...USER, 'allchannels'] },
  'too many clients': { begin: ['CONFIG', 'SET', 'maxclients', '1'], end: ['CONFIG', 'SET', 'maxclients', '10000'] }
}

/** A rotation of passwords, and a server that loads its ACL late. */
describe('clients that are refused when they connect again', () => {
  for (const [kind, start, database] of [
    ['one server', startSingle, '/3'],
    ['Sentinels', startBehindSentinels, '/3'],
    ['a Cluster', startCluster, '']
  ] as const) {
    describe(`by ${kind}`, () => {
      let servers: RedisKind
      let publisher: Redis
      let workers: Worker[] = []

      before(async () => {
        servers = await start()
        for (const node of servers.nodes) await node.ask(...USER, 'on', '>word', '~*', '&*', '+@all')
        publisher = await connect(servers.url, 'commands', createLogger('test', 'silent'))
        const url = `${servers.url.replace('://', '://narrow:word@')}${database}`
        for (const role of ROLES) workers.push(await openWorker(url, role, () => publisher))
      })
      after(async () => {
        for (const { redis } of workers) redis.disconnect()
        await disconnect(publisher)
        await servers.stop()
        workers = []
      })

      for (const [what, { begin, end }] of Object.entries(REFUSALS)) {
        it(`work again after ${what}`, async () => {
          await onEach(servers.nodes, begin)
          await cut(servers.nodes, workers.length)
          await onEach(servers.nodes, end)
          expect(await lateWorkers(servers.nodes, workers, BACK_WITHIN_ROUNDS)).to.deep.equal([])
        })
      }

      it('work in the database of their address again', async () => {
        if (database === '') return
        for (const { redis, role } of workers.filter(worker => worker.role !== 'subscriber')) {
          if (role !== 'blocking') await redis.set(`in-${role}`, '1')
        }
        const keyspace = await Promise.all(mastersOf(publisher).map(master => master.info('keyspace')))
        expect(keyspace.join()).to.match(/db3:/).and.not.match(/db0:/)
      })
    })
  }
})

async function onEach(nodes: readonly RedisNode[], command: readonly string[]): Promise<void> {
  for (const node of nodes) await node.ask(...command)
}

/** Cuts the connections of the user, and waits until all have tried again, and some of them a few times. */
async function cut(nodes: readonly RedisNode[], count: number): Promise<void> {
  const before = await connectionsMade(nodes)
  for (const node of nodes) await node.ask('CLIENT', 'KILL', 'USER', 'narrow')
  await until('clients connect again', async () => (await connectionsMade(nodes)) >= before + count)
  await delay(700)
}

/** Since the start, also those that were refused. */
async function connectionsMade(nodes: readonly RedisNode[]): Promise<number> {
  const figures = await Promise.all(
    nodes.flatMap(node => [
      node.figure('stats', 'total_connections_received'),
      node.figure('stats', 'rejected_connections')
    ])
  )
  return figures.reduce((sum, figure) => sum + Number(figure), 0)
}
