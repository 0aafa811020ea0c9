/**
 * The service without and with the archive, on the same finished payments: the size and the restart of Redis, and the
 * latency of requests. The process `archive` moves all payments but the newest while merchants create others.
 */
import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { advanceClock, CLOCK_POLL_MS } from '../../redis/connection/redis-clock.js'
import { createdAtMs, idempotencyRecord, keys, partitionOfPayment } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { delay } from '../../runtime/delay.js'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { redisDir, startRedis } from '../start/embedded-redis.js'
import { freePort } from '../start/ports.js'
import { obtainRedis } from '../start/redis-binary.js'
import { infoFigure, untilAtRest, withRedis } from '../start/with-redis.js'
import { readFigure } from './costs.js'
import { createKeyOf, fill } from './fill.js'
import { type Arrivals, type LoadResult, type RequestSource, runOpenLoop } from './load.js'
import { median, medians } from './statistics.js'
import { get, type ServiceSystem, spreadOver, startService } from './systems.js'

const DAY_MS = 24 * 3_600_000
const MERCHANTS = 24
/** At most a tenth of all payments. */
const ALIVE_MAX = 20_000
/** Ages of payments that reach ARCHIVE_AFTER_DAYS (90) when the clock is advanced. */
const OLD_DAYS = { from: 89, to: 31 }
const ADVANCE_DAYS = 60
/** Ages of payments that stay below it. */
const ALIVE_DAYS = { from: 1, to: 0 }
const ROUNDS = 3
const QUIET: Arrivals = { perSecond: 200, seconds: 8, connections: 64 }
/** The load while payments move. */
const BUSY: Arrivals = { perSecond: 500, seconds: 10, connections: 64 }
const POLL_MS = 100
const STUCK_MS = 120_000

/** Payment ids of a merchant, oldest first. */
interface Ages {
  readonly old: readonly string[]
  readonly alive: readonly string[]
}
type Seeded = ReadonlyMap<string, Ages>

/** Returns a Markdown table. Stops everything that it started. */
export async function compareWithArchive(
  options: { payments: number; dir: string },
  progress: (line: string) => void
): Promise<string> {
  const place = await temporaryFolder('payments-bench-', options.dir)
  const running = new Set<ServiceSystem>()
  const start = async (name: string, scale: readonly string[]): Promise<ServiceSystem> => {
    // Practically unlimited; the default limit protects a production system.
    const env = { ARCHIVE_PER_SECOND: '100000' }
    const service = await startService(join(place.path, name), { env, scale })
    running.add(service)
    return service
  }
  const stop = async (): Promise<void> => {
    for (const service of running) await service.stop()
    running.clear()
  }
  try {
    const seeded = await seed(await start('without', []), options.payments, progress)
    const oldCount = [...seeded.values()].reduce((sum, { old }) => sum + old.length, 0)
    await stop()
    await cp(join(place.path, 'without'), join(place.path, 'with'), { recursive: true })

    // One after the other, so that only one has all payments in memory.
    const archived = await warmedUp('with', await start('with', ['archive=1']))
    await forgetKeys(archived, seeded)
    const moving = await moveUnderLoad(archived, oldCount)
    const bare = await warmedUp('without', await start('without', []))
    const rows = ['| | without the archive | with it |', '|---|---|---|']
    const compare: Compare = async (name, work) => {
      const row = `| ${name} | ${await work(bare)} | ${await work(archived)} |`
      rows.push(row)
      progress(row)
    }
    await compare('payments moved per second', async system => (system === bare ? '' : moving.perSecond.toFixed(0)))
    await compare(`create, ${BUSY.perSecond}/s (with: while payments move)`, async system =>
      timesText([system === bare ? await create(bare, BUSY) : moving.creates])
    )
    await compareSizes([bare, archived], compare)
    await compareTimes([bare, archived], seeded, compare)
    await stop()
    await compare('restart of Redis after the rewrite, ms', restartMs)
    const title = `${options.payments} payments of ${MERCHANTS} merchants, ${oldCount} of them old enough to move.`
    return `${title} Times are p50 / p99 in ms.\n\n${rows.join('\n')}\n`
  } finally {
    await stop()
    await place.remove()
  }
}

/** Adds a row: its name, and the result of `work` for each system. */
type Compare = (name: string, work: (system: ServiceSystem) => Promise<string>) => Promise<void>

async function compareSizes(systems: readonly ServiceSystem[], compare: Compare): Promise<void> {
  const file = ({ redisUrl }: ServiceSystem): Promise<string> => sizeOf(redisUrl, 'aof_current_size')
  await compare('Redis memory, MiB', ({ redisUrl }) => sizeOf(redisUrl, 'used_memory'))
  await compare('Redis memory, resident, MiB', ({ redisUrl }) => sizeOf(redisUrl, 'used_memory_rss'))
  await compare('append-only file, MiB', file)
  for (const { redisUrl } of systems) {
    await withRedis(redisUrl, async redis => {
      await untilAtRest(redis)
      await redis.bgrewriteaof()
      await untilAtRest(redis)
    })
  }
  await compare('append-only file after a rewrite, MiB', file)
}

/** Each kind of request against both systems in turn, several times. */
async function compareTimes(systems: readonly ServiceSystem[], seeded: Seeded, compare: Compare): Promise<void> {
  for (const [kind, sourceOf] of requestsOf(seeded)) {
    const results = new Map(systems.map((system): [ServiceSystem, LoadResult[]] => [system, []]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [system, rounds] of results) rounds.push(await runOpenLoop(system.url, QUIET, await sourceOf(system)))
    }
    await compare(`${kind}, ${QUIET.perSecond}/s`, async system => timesText(results.get(system) ?? []))
  }
}

/** Finished payments of several merchants, the demo merchant among them. */
async function seed(
  { redisUrl, demo }: ServiceSystem,
  count: number,
  progress: (line: string) => void
): Promise<Seeded> {
  const nowMs = Date.now()
  const alive = Math.ceil(Math.min(ALIVE_MAX, count / 10) / MERCHANTS)
  const old = Math.ceil(count / MERCHANTS) - alive
  return await withRedis(redisUrl, async redis => {
    const fillUp = (merchantId: string, total: number, { from, to }: typeof OLD_DAYS): Promise<string[]> =>
      fill(redis, merchantId, total, index => Math.floor(nowMs - DAY_MS * (from - ((from - to) * index) / total)))
    const store = new MerchantStore(redis, 'test')
    const seeded = new Map<string, Ages>()
    while (seeded.size < MERCHANTS) {
      const { merchantId } =
        seeded.size === 0 ? { merchantId: demo.merchant_id } : await store.createMerchant(`Seeded ${seeded.size}`)
      seeded.set(merchantId, {
        old: await fillUp(merchantId, old, OLD_DAYS),
        alive: await fillUp(merchantId, alive, ALIVE_DAYS)
      })
      progress(`archive: ${seeded.size * (old + alive)} payments stored`)
    }
    return seeded
  })
}

/** Ready for requests of many merchants, after a warm-up. */
async function warmedUp(name: string, service: ServiceSystem): Promise<ServiceSystem> {
  const system = await spreadOver(service, name, MERCHANTS)
  await create(system, QUIET)
  return system
}

async function create(system: ServiceSystem, load: Arrivals): Promise<LoadResult> {
  return await runOpenLoop(system.url, load, await system.prepare(load.perSecond * load.seconds))
}

/** With the archive, the idempotency records of old creates expire after IDEMPOTENCY_RETENTION_DAYS. */
async function forgetKeys({ redisUrl }: ServiceSystem, seeded: Seeded): Promise<void> {
  const keyOf = (merchantId: string, id: string): string =>
    keys.idempotency(partitionOfPayment(id), idempotencyRecord(merchantId, createKeyOf(merchantId, id)))
  await withRedis(redisUrl, async redis => {
    for (const [merchantId, { old }] of seeded) {
      for (let start = 0; start < old.length; start += 1_000) {
        await redis.unlink(old.slice(start, start + 1_000).map(id => keyOf(merchantId, id)))
      }
    }
  })
}

/** Makes the old payments due while others are created. Resolves when all have moved. `perSecond`: moved during the load. */
async function moveUnderLoad(
  system: ServiceSystem,
  total: number
): Promise<{ creates: LoadResult; perSecond: number }> {
  const source = await system.prepare(BUSY.perSecond * BUSY.seconds)
  await withRedis(system.redisUrl, redis => advanceClock(redis, ADVANCE_DAYS * DAY_MS))
  // Processes see the jump at different times, and requests may fail until all have seen it.
  await delay(2 * CLOCK_POLL_MS)
  let changedMs = performance.now()
  const endsMs = changedMs + BUSY.seconds * 1_000
  const load = runOpenLoop(system.url, BUSY, source)
  let first: { readonly count: number; readonly atMs: number } | null = null
  let [count, perSecond] = [0, 0]
  while (count < total) {
    await delay(POLL_MS)
    const before = count
    count = await readFigure(system.dataDir, 'archive.1', 'card_payments_archive_moved_total')
    const atMs = performance.now()
    if (count > before) changedMs = atMs
    if (atMs - changedMs > STUCK_MS) throw new Error(`No payment moved for two minutes, after ${count} of ${total}.`)
    if (count > 0) first ??= { count, atMs }
    if (atMs < endsMs && first !== null && count > before && atMs > first.atMs)
      perSecond = ((count - first.count) * 1_000) / (atMs - first.atMs)
  }
  return { creates: await load, perSecond }
}

/** A figure of `INFO` in MiB. */
async function sizeOf(redisUrl: string, name: string): Promise<string> {
  return ((await withRedis(redisUrl, redis => infoFigure(redis, name))) / 2 ** 20).toFixed(1)
}

function requestsOf(seeded: Seeded): [string, (system: ServiceSystem) => Promise<RequestSource>][] {
  const of = ({ demo }: ServiceSystem): Ages => seeded.get(demo.merchant_id) ?? { old: [], alive: [] }
  const one =
    (system: ServiceSystem, ids: readonly string[]): RequestSource =>
    index =>
      get(system, `/v1/payments/${ids[(index * 7_919) % ids.length]}`)
  const list =
    (system: ServiceSystem, filter: string): RequestSource =>
    () =>
      get(system, `/v1/payments?limit=20${filter}`)
  // A page of 20 that ends before the eleventh of those that are alive has ten of each.
  const until = (system: ServiceSystem): string => new Date(createdAtMs(of(system).alive[10] ?? '')).toISOString()
  return [
    ['create', system => system.prepare(QUIET.perSecond * QUIET.seconds)],
    ['GET, alive', async system => one(system, of(system).alive)],
    ['GET, archived', async system => one(system, of(system).old)],
    ['list, first page', async system => list(system, '')],
    ['list, page over both stores', async system => list(system, `&created_to=${until(system)}`)]
  ]
}

/** The median time from the start of Redis to its first answer. */
async function restartMs({ dataDir }: ServiceSystem): Promise<string> {
  const binary = await obtainRedis(resolve('.vendor'), () => undefined)
  const dir = redisDir(dataDir, 'redis')
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const port = await freePort()
    const startedMs = performance.now()
    const redis = await startRedis({ kind: 'redis', binary, dir, port, onOutput: () => undefined })
    times.push(performance.now() - startedMs)
    await redis.process.stop(10_000)
  }
  return median(times).toFixed(0)
}

/** Includes the statuses other than 200 and 201, because a failed request is not a fast one. 0: no answer. */
function timesText(results: readonly LoadResult[]): string {
  const { p50Ms, p99Ms } = medians(['p50Ms', 'p99Ms'], results)
  const answers = results.flatMap(({ statuses }) => Object.entries(statuses))
  const failed = answers.flatMap(([status, count]) => (/^20[01]$/.test(status) ? [] : `, ${count} times ${status}`))
  return `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}${failed.join('')}`
}
