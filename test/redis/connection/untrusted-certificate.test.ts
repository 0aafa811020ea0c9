import { connectInBackground } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { overTls, type RedisKind, startBehindSentinels, startCluster, startSingle } from '../../support/redis-kinds.js'

const CLIENTS = 60

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
      const clients = Array.from({ length: CLIENTS }, (_, at) => {
        const redis = connectInBackground(servers.url, 'commands', createLogger('test', 'silent'), 'REDIS_URL')
        void delay(at).then(() => redis.disconnect())
        return redis
      })
      await until('all are closed', () => clients.every(({ status }) => status === 'end' || status === 'close'))
    })
  }
})
