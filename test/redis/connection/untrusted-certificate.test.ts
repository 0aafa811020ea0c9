import { connectInBackground } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { overTls, type RedisKind, startBehindSentinels, startCluster, startSingle } from '../../support/redis-kinds.js'

const CLIENTS = 60
const CONNECTING = ['connecting', 'connect', 'ready']

/** As at an expired certificate: the clients of a watch, of a Cluster and of Sentinels come and go while it lasts. */
describe('a server whose certificate is not trusted', () => {
  let servers: RedisKind
  afterEach(() => servers.stop())

  for (const [what, start] of [
    ['one server', startSingle],
    ['Sentinels', startBehindSentinels],
    ['a Cluster', startCluster]
  ] as const) {
    it(`ends no process whose clients are closed in the middle of a handshake: ${what}`, async () => {
      servers = await overTls(start)
      const clients = Array.from({ length: CLIENTS }, () =>
        connectInBackground(servers.url, 'commands', createLogger('test', 'silent'), 'REDIS_URL')
      )
      await Promise.all(clients.map((redis, at) => delay(at).then(() => redis.disconnect())))
      // One that was closed between two tries keeps the status of that moment, and tries no more.
      await until('none connects', () => clients.every(({ status }) => !CONNECTING.includes(status)))
    })
  }
})
