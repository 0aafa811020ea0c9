/**
 * Lets the payments service reach the shop. Webhooks go to https addresses; a real shop has a proxy with its certificate
 * in front, here the listener of `webhooks:listen` stands in for it, with the certificate that `npm start` made.
 */
import { PaymentsClient } from '../../client/index.js'
import { readLoopbackTls } from '../start/loopback-tls.js'
import { startListener } from './listener.js'
import type { Shop } from './server.js'
import type { MerchantSettings } from './settings.js'

/** Registers the shop as the merchant's endpoint; it takes the place of any other. `port` 0: a free one. */
export async function receiveWebhooks(options: {
  dataDir: string
  merchant: MerchantSettings
  shop: Shop
  port: number
}): Promise<{ stop(): Promise<void> }> {
  const { dataDir, merchant, shop, port } = options
  const listener = await startListener({
    tls: await readLoopbackTls(dataDir),
    port,
    portOption: '--webhook-port',
    forwardTo: new URL('/webhooks', shop.url),
    write: () => undefined
  })
  try {
    const { secret } = await new PaymentsClient(merchant).webhookEndpoint.register({ url: listener.url })
    listener.expect(secret)
    shop.believeWebhooks(secret)
  } catch (error) {
    await listener.stop()
    throw error
  }
  return listener
}
