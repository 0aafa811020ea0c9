/** Process `notifications`: takes the card network's notifications, on a port of its own that only the network reaches. */
import { followClock } from '../../redis/clock.js'
import { connect, disconnect } from '../../redis/connections.js'
import { assertPartitions, assertReachable, requireDurability } from '../../redis/installation.js'
import { createNoticeStore } from '../../redis/notices.js'
import { openWrites } from '../../redis/writes.js'
import { runProcess } from '../../runtime/lifecycle.js'
import { serve } from '../http-server.js'
import { createNotificationsApp } from './app.js'

await runProcess('notifications', async ({ config, log, onStop, onReadyCheck }) => {
  const redis = await connect(config.redisUrl, 'commands', log)
  onStop('redis', () => disconnect(redis))
  onReadyCheck('redis', () => assertReachable(redis))
  const { writes, close } = await openWrites(redis, config, log)
  onStop('redis', close)
  await assertPartitions(redis, config.partitions)
  await requireDurability(redis, { config, onReadyCheck })
  const clock = await followClock(redis, config.environment, { log })
  onStop('clock', () => clock.stop())

  const app = createNotificationsApp({
    secret: config.notificationsSecret,
    notices: createNoticeStore(redis, config.partitions, writes),
    clock,
    log
  })
  const server = await serve(app, {
    host: config.host,
    port: config.notificationsPort,
    log,
    drainDelayMs: config.drainDelayMs
  })
  onStop('http server', () => server.stop())
})
