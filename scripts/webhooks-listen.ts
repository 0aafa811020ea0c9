/**
 * `npm run webhooks:listen -- --forward-to http://localhost:4000/hook`: receives the demo merchant's webhooks while a
 * merchant's own server is being written, prints them, checks their signature, and passes them on as they came.
 *
 * It is a receiver like any other: an https server on this machine, registered with the API. Its certificate is of
 * the authority that `npm start` made, which `webhooks` trusts. The answer of the forwarded-to server is the answer.
 */
import { parseArgs } from 'node:util'
import { readConfig } from '../runtime/config.js'
import { messageOf } from '../runtime/message-of.js'
import { readDemo } from './supervisor/demo.js'
import { readLoopbackTls } from './supervisor/loopback-tls.js'
import { portOf, toolPorts } from './supervisor/tool-ports.js'
import { forwardTarget, startListener } from './webhooks/listener.js'
import { registerHook } from './webhooks/register.js'

const write = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  // The address stays the same from run to run, so the signing secret does too.
  const { values } = parseArgs({
    options: { 'forward-to': { type: 'string' }, port: { type: 'string', default: String(toolPorts.webhooksListen) } }
  })
  const forwardTo = values['forward-to'] === undefined ? null : forwardTarget(values['forward-to'])
  const { dataDir } = readConfig()
  const demo = await readDemo(dataDir)
  if (!demo?.base_url) throw new Error(`There is no demo merchant in ${dataDir}. Run \`npm start\` first.`)
  const listener = await startListener({
    tls: await readLoopbackTls(dataDir),
    port: portOf('port', values.port),
    forwardTo,
    write
  })
  const secret = await registerHook(demo.base_url, demo.api_key, listener.url)
  listener.expect(secret)
  write(`Listening for the events of merchant ${demo.merchant_id} on ${listener.url}`)
  write(`Signing secret: ${secret}`)
  if (forwardTo !== null) write(`Forwarding to ${forwardTo.href}`)
  write('Ctrl-C ends; events wait for the next time.')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void listener.stop().then(() => process.exit(0)))
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
