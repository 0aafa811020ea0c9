/**
 * `npm run shop`: the site of a merchant, beside a running `npm start`. It uses the public API only, with the keys of the
 * demo merchant from DATA_DIR/demo.json; everything in scripts/shop may be copied into a real shop.
 */
import { readConfig } from '../../runtime/config.js'
import { stopOnSignals } from '../command-line/ending.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { port } from '../command-line/values.js'
import { readDemo } from '../start/demo.js'
import { toolPorts } from '../start/tool-ports.js'
import { startShop } from './server.js'

const command = toolCommand({
  name: 'shop',
  does: 'Opens a shop of one page, which charges test cards through hosted fields and the public API of the running `npm start` of this DATA_DIR (.data), as its demo merchant.',
  takes: 'until Ctrl-C.',
  examples: [['--port 4100', 'beside something else on port 4000']]
}).option('--port <port>', 'where the shop is open on this machine; 0 takes a free one', port, toolPorts.shop)
const { options } = readCommandLine<{ port: number }>(command)

const { dataDir } = readConfig(undefined, 'tools')
const demo = await readDemo(dataDir)
if (!demo?.base_url || !demo.tokens_url) {
  throw new Error(
    `There is no demo merchant in ${dataDir}. Run \`npm start\` in another terminal first, or set its DATA_DIR here, too.`
  )
}
const merchant = {
  baseUrl: demo.base_url,
  tokensUrl: demo.tokens_url,
  apiKey: demo.api_key,
  publishableKey: demo.publishable_key
}
const shop = await startShop(merchant, options.port)
stopOnSignals(() => shop.stop())
process.stdout.write(`The shop is open: ${shop.url}\nCtrl-C closes it.\n`)
