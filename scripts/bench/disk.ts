/** What the disk does to a measurement: with `appendfsync always` all requests wait for it, reads too. */
import type { Redis } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { withRedis } from './with-redis.js'

const POLL_MS = 200
/** A disk that was given a gigabyte goes on writing it, and lets each fsync wait for that. */
const CALM_FSYNC_MS = 20
const CALM_FOR_MS = 10_000
const CALM_DEADLINE_MS = 180_000
/** Shorter ones are not noticed by Redis's latency monitor. */
const FSYNC_THRESHOLD_MS = 1

/** What `work` returns, and the longest that this Redis waited for an fsync meanwhile (ms; 0: less than 1). */
export async function watchingFsync<T>(url: string, work: () => Promise<T>): Promise<[T, slowestFsyncMs: number]> {
  return await withRedis(url, async redis => {
    await redis.config('SET', 'latency-monitor-threshold', FSYNC_THRESHOLD_MS)
    await redis.latency('RESET')
    return [await work(), await slowestFsyncMs(redis)]
  })
}

/** By Redis's own latency monitor, since it was reset; 0: none took as long as its threshold. */
async function slowestFsyncMs(redis: Redis): Promise<number> {
  const events = (await redis.latency('LATEST')) as [name: string, at: number, lastMs: number, maxMs: number][]
  return Math.max(0, ...events.filter(([name]) => name === 'aof-fsync-always').map(([, , , maxMs]) => maxMs))
}

/** Waits, for a few minutes at most, until fsyncs are short. */
export async function untilDiskIsCalm(redis: Redis): Promise<void> {
  await redis.config('SET', 'latency-monitor-threshold', FSYNC_THRESHOLD_MS)
  const deadlineMs = performance.now() + CALM_DEADLINE_MS
  do {
    await redis.latency('RESET')
    await delay(CALM_FOR_MS)
  } while ((await slowestFsyncMs(redis)) > CALM_FSYNC_MS && performance.now() < deadlineMs)
}

/** What was written may have begun a rewrite of the append-only file, which is measured apart. */
export async function untilAtRest(redis: Redis): Promise<void> {
  while (!/^aof_rewrite_in_progress:0\r?\naof_rewrite_scheduled:0/m.test(await redis.info('persistence'))) {
    await delay(POLL_MS)
  }
}
