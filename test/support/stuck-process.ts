/**
 * A process whose connection to Redis gets stuck for good, for tests of what ends it: a reset during the shutdown of a stream
 * closes nothing, so that the client waits for 'close' for ever.
 */
import type { Socket } from 'node:net'
import { connect } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { runProcess } from '../../runtime/lifecycle.js'

/** Long enough for a probe to see how /healthz answers meanwhile (ms). */
const STOP_MS = 1_500

await runProcess('timers', async ({ config, log, onStop }) => {
  const redis = await connect(config.redisUrl, 'commands', log)
  onStop('redis', () => delay(STOP_MS))
  const { stream } = redis as typeof redis & { readonly stream: Socket }
  stream.on('error', () => undefined).end()
  stream.resetAndDestroy()
})
