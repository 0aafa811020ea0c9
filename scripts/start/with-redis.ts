/** The Redis of a running service, over a connection of its own. */
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { infoField } from '../../redis/connection/reply-fields.js'
import { createLogger } from '../../runtime/log.js'

/** Connects, does `work`, and disconnects. */
export async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await connect(url, 'commands', createLogger('tool', 'error'))
  try {
    return await work(redis)
  } finally {
    await disconnect(redis)
  }
}

/** A figure of INFO, such as `used_memory`. */
export async function infoFigure(redis: Redis, name: string): Promise<number> {
  return Number(infoField(await redis.info(), name))
}
