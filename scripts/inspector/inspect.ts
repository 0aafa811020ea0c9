/**
 * `npm run inspect`: a local page with the machine of a payment as a statechart, and the payments of a running service in it.
 * What-if works without a service.
 */
import { stopOnSignals } from '../command-line/ending.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { port } from '../command-line/values.js'
import { addressesOf } from '../operator/connection.js'
import { toolPorts } from '../start/tool-ports.js'
import { startInspector } from './inspector.js'

const command = toolCommand({
  name: 'inspect',
  does: 'Serves a local page with the machine of a payment as a chart, and the payments of the running `npm start` in it. Without a service, the page steps a payment by hand.',
  takes: 'until Ctrl-C.',
  examples: [['--port 0', 'on a free port']]
}).option('--port <port>', 'where the page is served on this machine; 0 takes a free one', port, toolPorts.inspector)
const { options } = readCommandLine<{ port: number }>(command)

const inspector = await startInspector({ port: options.port, redisAddress: async () => (await addressesOf()).url })
stopOnSignals(() => inspector.stop())
process.stdout.write(`Inspector: ${inspector.url}\n`)
process.stdout.write('Payments appear when workers decide about them. Ctrl-C ends it.\n')
