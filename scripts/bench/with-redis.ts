import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { createLogger } from '../../runtime/log.js'

/** Does something with a connection of its own, beside those of the service. */
export async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await connect(url, 'commands', createLogger('bench', 'error'))
  try {
    return await work(redis)
  } finally {
    await disconnect(redis)
  }
}
