/** Process `archive`: moves payments at rest from Redis to PostgreSQL. */
import { openArchive } from '../archive/open-archive.js'
import { DAY_MS } from '../machines/durations.js'
import { followClock } from '../redis/connection/redis-clock.js'
import { openDurable } from '../redis/installation/durable.js'
import { MerchantStore } from '../redis/merchants/merchants.js'
import { runProcess } from '../runtime/lifecycle.js'
import { createArchiveMetrics } from './archive/archive-metrics.js'
import { startMoving } from './archive/moving.js'

await runProcess('archive', async context => {
  const { config, log, signal, onStop, onReadyCheck } = context
  const archive = await openArchive(context)
  if (archive === null) throw new Error('unreachable: readConfig demands ARCHIVE_URL from this process')
  const { durable: redis, writes } = await openDurable(context)
  const clock = await followClock(redis, config.environment, { process: context })
  const merchants = new MerchantStore(redis, config.environment)
  const moving = startMoving(
    {
      writes,
      archive,
      merchantIds: () => merchants.listIds(),
      partitions: config.partitions,
      afterMs: config.archiveAfterDays * DAY_MS,
      perSecond: config.archivePerSecond,
      metrics: createArchiveMetrics(clock),
      clock,
      log
    },
    () => archive.migrate(),
    signal
  )
  onReadyCheck('archive', async () => {
    // The pause after a round may be minutes long.
    await archive.ping()
    return moving.problem()
  })
  onStop('moving', moving.ended)
})
