/**
 * `npm run webhooks:listen`: receives the demo merchant's webhooks while a merchant's own server is being written, prints
 * them, checks their signature, and passes them on as they came.
 *
 * It is a receiver like any other: an https server on this machine, registered with the API. Its certificate is of
 * the authority that `npm start` made, which `webhooks` trusts. The answer of the forwarded-to server is the answer.
 */
import { NoAnswerError, PaymentsClient } from '../../client/index.js'
import { readConfig } from '../../runtime/config.js'
import { stopOnSignals } from '../command-line/ending.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { port } from '../command-line/values.js'
import { readDemo } from '../start/demo.js'
import { readLoopbackTls } from '../start/loopback-tls.js'
import { toolPorts } from '../start/tool-ports.js'
import { forwardTarget, startListener } from './listener.js'

const command = toolCommand({
  name: 'webhooks:listen',
  does: "Receives the webhooks of the demo merchant of the running `npm start` of this DATA_DIR (.data), prints them, checks their signature, and passes them on as they came. It takes the place of the merchant's webhook endpoint.",
  takes: 'until Ctrl-C; events wait for the next time.',
  examples: [
    ['', 'print them'],
    ['--forward-to http://localhost:8080/hook', 'and pass them on; its answer is the answer']
  ]
})
  .option('--forward-to <url>', 'where each event is posted to, with its bytes and its signature', forwardTarget)
  // It stays the same from run to run, so the signing secret does too.
  .option('--port <port>', 'where it listens on this machine; 0 takes a free one', port, toolPorts.webhooksListen)
const { options } = readCommandLine<{ forwardTo?: URL; port: number }>(command)
const write = (line: string): void => void process.stdout.write(`${line}\n`)

const { dataDir } = readConfig(undefined, 'tools')
const demo = await readDemo(dataDir)
if (!demo?.base_url)
  throw new Error(`There is no demo merchant in ${dataDir}. Run \`npm start\` first, or set its DATA_DIR here, too.`)
const forwardTo = options.forwardTo ?? null
const listener = await startListener({ tls: await readLoopbackTls(dataDir), port: options.port, forwardTo, write })
stopOnSignals(listener.stop)
const client = new PaymentsClient({ baseUrl: demo.base_url, apiKey: demo.api_key })
const { secret } = await client.webhookEndpoint.register({ url: listener.url }).catch((error: unknown) => {
  throw error instanceof NoAnswerError ? new Error(`${error.message} Is \`npm start\` running?`) : error
})
listener.expect(secret)
write(`Signing secret: ${secret}`)
write(`Listening for the events of merchant ${demo.merchant_id} on ${listener.url}`)
if (forwardTo !== null) write(`Forwarding to ${forwardTo.href}`)
write('Changes from before an endpoint was registered are not sent. Ctrl-C ends; later events wait for the next time.')
