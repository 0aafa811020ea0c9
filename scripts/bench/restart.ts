/** How long Redis takes to start, by the number of payments that it holds. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Redis } from '../../redis/connection/connections.js'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { startRedis } from '../start/embedded-redis.js'
import type { EmbeddedServer } from '../start/embedded-server.js'
import { freePort } from '../start/ports.js'
import { obtainRedis } from '../start/redis-binary.js'
import { infoFigure, untilAtRest, withRedis } from '../start/with-redis.js'
import { fill } from './fill.js'
import { median } from './statistics.js'

const MERCHANTS = 24
const ROUNDS = 3
/** Payments that are written like those of the service. The others are copies of their keys under other names. */
const WRITTEN_MAX = 1_000_000
const SCANNED = 1_000
const COPIED = ':copy'
const STOP_DEADLINE_MS = 60_000
const COPY = `for _, key in ipairs(KEYS) do
  for copy = ARGV[1], ARGV[2] do redis.call('COPY', key, key .. '${COPIED}' .. copy) end
end`

/** Returns a Markdown table. `sizes`: payments, ascending, each a multiple of the first or of a million. */
export async function measureRestarts(
  { sizes, dir }: { sizes: readonly number[]; dir: string },
  progress: (line: string) => void
): Promise<string> {
  const place = await temporaryFolder('payments-bench-', dir)
  const binary = await obtainRedis(resolve('.vendor'), progress)
  const start = async (): Promise<EmbeddedServer> =>
    startRedis({ kind: 'redis', binary, dir: place.path, port: await freePort(), onOutput: () => undefined })
  const stop = ({ process }: EmbeddedServer): Promise<unknown> => process.stop(STOP_DEADLINE_MS)
  const rows = [
    '| payments | Redis memory, GiB | append-only file after a rewrite, GiB | until Redis answers, s |',
    '|---|---|---|---|'
  ]
  const written = Math.min(WRITTEN_MAX, sizes[0] ?? 0)
  try {
    let has = 0
    for (const size of sizes) {
      const growing = await start()
      const figures = await withRedis(growing.url, redis => grow(redis, { written, has, size }))
      has = size
      await stop(growing)
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const startedMs = performance.now()
        const restarted = await start()
        times.push(performance.now() - startedMs)
        await stop(restarted)
      }
      rows.push(`| ${[size, ...figures, (median(times) / 1_000).toFixed(1)].join(' | ')} |`)
      progress(rows.at(-1) ?? '')
    }
  } finally {
    await place.remove()
  }
  return `${rows.join('\n')}\n`
}

/** Grows from `has` to `size` payments and rewrites the file. Returns the GiB of memory and of the file. */
async function grow(
  redis: Redis,
  { written, has, size }: { written: number; has: number; size: number }
): Promise<string[]> {
  await redis.config('SET', 'appendonly', 'no')
  if (has === 0) {
    for (let count = 0; count < MERCHANTS; count++) await fill(redis, randomUUID(), Math.ceil(written / MERCHANTS))
  }
  const [from, to] = [Math.max(1, Math.round(has / written)), Math.round(size / written) - 1]
  let cursor = '0'
  do {
    const [next, found] = await redis.scan(cursor, 'COUNT', SCANNED)
    const originals = found.filter(key => !key.includes(COPIED))
    await redis.eval(COPY, originals.length, ...originals, from, to)
    cursor = next
  } while (cursor !== '0')
  await redis.config('SET', 'appendonly', 'yes')
  await untilAtRest(redis)
  const bytes = [await infoFigure(redis, 'used_memory'), await infoFigure(redis, 'aof_current_size')]
  return bytes.map(size => (size / 2 ** 30).toFixed(2))
}
