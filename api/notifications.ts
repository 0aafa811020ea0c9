/** Process `notifications`: receives notifications of the card network, on a port of its own that only the network reaches. */
import { followClock } from '../redis/connection/redis-clock.js'
import { openDurable } from '../redis/installation/durable.js'
import { createNotificationStore } from '../redis/notifications/notifications.js'
import { runProcess } from '../runtime/lifecycle.js'
import { serve } from './http/http-server.js'
import { createNotificationsApp } from './notifications/notifications-app.js'

await runProcess('notifications', async context => {
  const { config, log, onStop } = context
  const { durable, writes } = await openDurable(context)
  const clock = await followClock(durable, config.environment, { process: context })

  const app = createNotificationsApp({
    secret: config.notificationsSecret,
    notifications: createNotificationStore(writes, config.partitions),
    clock,
    log
  })
  const server = await serve(app, {
    host: config.host,
    port: config.notificationsPort,
    portVariable: 'NOTIFICATIONS_PORT',
    log,
    drainDelayMs: config.drainDelayMs,
    keepAliveTimeoutMs: config.keepAliveTimeoutMs
  })
  onStop('http server', () => server.stop())
})
