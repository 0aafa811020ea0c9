/** Process `network`: the card-network simulator of the test environment. */
import { join } from 'node:path'
import { runProcess } from '../../runtime/lifecycle.js'
import { startSimulator } from './simulator.js'

await runProcess('network', async ({ config, log, onStop }) => {
  if (config.environment === 'live') {
    throw new Error(
      'SERVICE_ENV is live: the simulator is for the test environment. Take `network` out of the Procfile.'
    )
  }
  const simulator = await startSimulator({
    host: config.host,
    port: config.networkPort,
    ledgerFile: join(config.dataDir, 'network-ledger.jsonl'),
    merchantId: config.networkMerchantId,
    merchantKey: config.networkMerchantKey,
    notificationsUrl: config.notificationsUrl || `http://127.0.0.1:${config.notificationsPort}/notifications`,
    notificationsSecret: config.notificationsSecret,
    log
  })
  onStop('simulator', simulator.stop)
  log.info({ url: simulator.url }, 'card-network simulator listening')
})
