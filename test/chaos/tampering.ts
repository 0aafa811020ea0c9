/**
 * What people and their cron jobs do to the streams of commands by hand, while the service works: groups are destroyed, set
 * back and set forward, consumers are deleted, streams trimmed.
 */
import { unownedEntry } from '../../redis/commands/command-entry.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
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
      return (await trim(redis, partitions, Math.floor(random() * KEPT_MAX))) ? way : null
  }
  return way
}

/**
 * Trims the longest stream of payments to its last `kept` entries. All from the first notification of the acquirer on stay:
 * nothing would bring that back, nor what asks to send the first event of a payment.
 */
async function trim(redis: Redis, partitions: number, kept: number): Promise<boolean> {
  const streams = Array.from({ length: partitions }, (_, partition) => paymentWork.stream(partition))
  const all = await Promise.all(streams.map(async name => ({ name, entries: await redis.xrange(name, '-', '+') })))
  const longest = all.sort((a, b) => b.entries.length - a.entries.length)[0]
  if (longest === undefined) return false
  const { name: stream, entries } = longest
  const isNotification = ([entryId, fields]: (typeof entries)[number]): boolean =>
    paymentWork.decode(unownedEntry(0, entryId, fields)).command.kind === 'network_notification'
  const firstKept = entries.find((entry, index) => index >= entries.length - kept || isNotification(entry))
  const [lastMs, lastCount] = (entries.at(-1)?.[0] ?? '0-0').split('-')
  return (await redis.xtrim(stream, 'MINID', firstKept?.[0] ?? `${lastMs}-${Number(lastCount) + 1}`)) > 0
}
