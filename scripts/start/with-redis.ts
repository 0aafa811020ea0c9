/** The Redis of a running service, over a connection of its own. */
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'

const POLL_MS = 200

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
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info())?.[1])
}

/** Resolves when Redis does not rewrite its append-only file. */
export async function untilAtRest(redis: Redis): Promise<void> {
  while (!/^aof_rewrite_in_progress:0\r?\naof_rewrite_scheduled:0/m.test(await redis.info('persistence'))) {
    await delay(POLL_MS)
  }
}
