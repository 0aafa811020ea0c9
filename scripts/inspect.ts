/**
 * `npm run inspect [-- --port=4010 --hosted]`: a local page with each machine as a statechart, and the payments of a
 * running service moving through it. What-if works without a service.
 *
 * `--hosted` also offers `/hosted`: the same messages in the inspector of stately.ai, loaded from the internet.
 */
import { parseArgs } from 'node:util'
import { isGiven, readConfig } from '../runtime/config.js'
import { messageOf } from '../runtime/message-of.js'
import { startInspector } from './inspector/inspector.js'
import { addressOf } from './operator/connection.js'
import { portOf, toolPorts } from './supervisor/tool-ports.js'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: String(toolPorts.inspector) },
    hosted: { type: 'boolean', default: false }
  }
})
try {
  const config = readConfig()
  const inspector = await startInspector({
    port: portOf('port', values.port),
    isHostedAllowed: values.hosted,
    redisAddress: async () => (await addressOf(config, isGiven('REDIS_URL'))).url
  })
  process.stdout.write(`Inspector: ${inspector.url}\n`)
  if (values.hosted) process.stdout.write(`Hosted:    ${inspector.url}hosted\n`)
  process.stdout.write('Payments appear as workers decide about them. Ctrl-C ends it.\n')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void inspector.stop().finally(() => process.exit(0)))
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exit(1)
}
