/**
 * What people and their cron jobs do to the streams of commands by hand, while the service works: groups are destroyed, set
 * back and set forward, consumers are deleted, streams trimmed.
 */
import { paymentWork } from '../../redis/commands/command-stream.js'
import { connectInBackground, disconnect, type Redis } from '../../redis/connection/connections.js'
import { deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import { createLogger } from '../../runtime/log.js'
import { ways } from '../simulation/tampering.js'

/** Payments are what it is about. */
const OF_PAYMENTS = 0.85
/** A trimmed stream keeps fewer entries than this. */
const KEPT_MAX = 3

export interface Tamperer {
  /** Does one thing to one stream; resolves to its name, or null: the server was away, or there was nothing to do it to. */
  tamper(random: () => number): Promise<string | null>
  stop(): Promise<void>
}

export function startTamperer(redisUrl: string, partitions: number): Tamperer {
  const redis = connectInBackground(redisUrl, 'commands', createLogger('operator', 'silent'), 'REDIS_URL')
  return {
    tamper: random => tamper(redis, partitions, random).catch(() => null),
    stop: () => disconnect(redis)
  }
}

async function tamper(redis: Redis, partitions: number, random: () => number): Promise<string | null> {
  const { stream: streamOf, group } = random() < OF_PAYMENTS ? paymentWork : deliveryWork
  const stream = streamOf(Math.floor(random() * partitions))
  const way = ways[Math.floor(random() * ways.length)] ?? 'destroyed'
  switch (way) {
    case 'destroyed':
      await redis.xgroup('DESTROY', stream, group)
      break
    case 'set back':
      await redis.xgroup('SETID', stream, group, '0')
      break
    case 'set forward':
      await redis.xgroup('SETID', stream, group, '$')
      break
    case 'consumer deleted': {
      const rows = (await redis.xinfo('CONSUMERS', stream, group)) as string[][]
      const name = rows[Math.floor(random() * rows.length)]?.[1]
      if (name === undefined) return null
      await redis.xgroup('DELCONSUMER', stream, group, name)
      break
    }
    case 'trimmed':
      // The events of a payment are not in the stream of deliveries, but only what asks to send the first of them.
      if (group === deliveryWork.group) return null
      await redis.xtrim(stream, 'MAXLEN', Math.floor(random() * KEPT_MAX))
  }
  return way
}
