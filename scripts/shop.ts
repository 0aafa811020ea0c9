/**
 * `npm run shop [-- --port 4000]`: the site of a merchant, beside a running `npm start`. It uses the public API only, with
 * the keys of the demo merchant from DATA_DIR/demo.json; everything in scripts/shop may be copied into a real shop.
 */
import { parseArgs } from 'node:util'
import { readConfig } from '../runtime/config.js'
import { messageOf } from '../runtime/message-of.js'
import { startShop } from './shop/server.js'
import { readMerchantSettings } from './shop/settings.js'
import { receiveWebhooks } from './shop/webhooks.js'
import { portOf, toolPorts } from './supervisor/tool-ports.js'

const write = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  // The address of the webhooks stays the same from run to run, so that waiting events find the shop again.
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: String(toolPorts.shop) },
      'webhook-port': { type: 'string', default: String(toolPorts.shopWebhooks) }
    }
  })
  const { dataDir } = readConfig()
  const merchant = await readMerchantSettings(dataDir)
  const shop = await startShop({ merchant, port: portOf('port', values.port) })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void shop.stop().then(() => process.exit(0)))
  }
  write(`The shop is open: ${shop.url}`)
  await receiveWebhooks({ dataDir, merchant, shop, port: portOf('webhook-port', values['webhook-port']) }).then(
    () => write('It is the webhook endpoint of the demo merchant now.'),
    (error: Error) => write(`It gets no webhooks and asks the service instead. ${error.message}`)
  )
  write('Ctrl-C closes it.')
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
