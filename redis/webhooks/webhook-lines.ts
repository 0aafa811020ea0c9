/**
 * The lines of endpoints: the payments whose first event waits for its next attempt, or for the endpoint of its merchant.
 * `timers` lets them go on.
 */
import { type Failing, stepOfLine } from '../../machines/webhook-delivery.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { keys, partitionNumbers } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { required, storedValue } from '../stored-fields.js'
import { entryTimeMs } from '../streams.js'

const fireWebhooks = defineNamedScript<{
  keys: 'line' | 'lines' | 'failing' | 'deliveries'
  given: {
    merchant: string
    nowMs: number
    before: string | undefined
    max: number
    trial: string | undefined
    againMs: number
  }
}>('fire_webhooks')

/** Endpoints of a partition in one round. */
const LINES_MAX = 500

const storedFailing = storedValue<Failing>('failing endpoint', {
  failures: [required],
  sinceMs: [required],
  pausedUntilMs: [null],
  nextMs: [null]
})

/** As scripts store it and compare it; undefined: it works. */
export function encodeFailing(failing: Failing | null): string | undefined {
  return failing === null ? undefined : storedFailing.encode(failing)
}

export function decodeFailing(stored: string | null): Failing | null {
  return stored === null ? null : storedFailing.decode(stored)
}

/** Lets those go on whose time has come, in the lines of a partition. Returns how many commands were written. */
export async function fireLines(redis: Redis, partition: number, nowMs: number): Promise<number> {
  const lines = keys.webhookLines(partition)
  const merchants = await redis.zrangebyscore(lines, '-inf', nowMs, 'LIMIT', 0, LINES_MAX)
  const counts = await Promise.all(
    merchants.map(async merchant => {
      const failing = keys.webhookFailing(partition, merchant)
      const before = await redis.get(failing)
      const { max, trial, againMs } = stepOfLine(decodeFailing(before), nowMs)
      const line = keys.webhookLine(partition, merchant)
      const given = { merchant, nowMs, before: before ?? undefined, max, trial: encodeFailing(trial), againMs }
      return Number(await fireWebhooks(redis, { line, lines, failing, deliveries: keys.deliveries(partition) }, given))
    })
  )
  return sum(counts)
}

/** All partitions at one moment. */
export interface DeliveryBacklog {
  /** Payments whose first event is being sent, or about to be. */
  commands: number
  /** Age of the oldest of them, by the clock of Redis (ms). */
  oldestAgeMs: number
  /** Payments whose events wait for a retry, or for the endpoint of their merchant. */
  waiting: number
  /** For how long the endpoint that has failed longest has failed; 0 when none fails for which events wait (ms). */
  failingMs: number
}

export async function deliveryBacklog(redis: Redis, partitions: number): Promise<DeliveryBacklog> {
  const backlog: DeliveryBacklog = { commands: 0, oldestAgeMs: 0, waiting: 0, failingMs: 0 }
  const nowMs = await serverTimeMs(redis)
  const read = async (partition: number): Promise<void> => {
    const stream = keys.deliveries(partition)
    const [commands, [oldest], merchants] = await Promise.all([
      redis.xlen(stream),
      redis.xrange(stream, '-', '+', 'COUNT', 1),
      redis.zrange(keys.webhookLines(partition), '0', '-1')
    ])
    const waiting = await Promise.all(merchants.map(id => redis.zcard(keys.webhookLine(partition, id))))
    const failing = await Promise.all(merchants.map(id => redis.get(keys.webhookFailing(partition, id))))
    const sinceMs = failing.map(stored => decodeFailing(stored)?.sinceMs ?? nowMs)
    backlog.commands += commands
    backlog.waiting += sum(waiting)
    backlog.failingMs = Math.max(backlog.failingMs, ...sinceMs.map(since => nowMs - since))
    if (oldest !== undefined) {
      backlog.oldestAgeMs = Math.max(backlog.oldestAgeMs, nowMs - entryTimeMs(oldest[0]))
    }
  }
  await Promise.all(partitionNumbers(partitions).map(read))
  return backlog
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
