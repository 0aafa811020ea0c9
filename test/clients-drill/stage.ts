/** What the stories play on: a service of its own, the same behind the growing proxy, and a server with tokens and deliveries. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PaymentsClient } from '../../client/index.js'
import { readLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { Merchant, testCards } from '../support/merchant.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { type ServiceUnderTest, startService } from '../support/service.js'
import { setFaults } from '../support/simulator.js'
import { grownDelivery, startGrowingProxy } from './growing-proxy.js'
import { type LoopbackServer, startLoopbackServer } from './loopback-server.js'

export interface Stage {
  /** The environment of a story; of one behind the growing proxy. */
  environment(isGrowing: boolean): Readonly<Record<string, string>>
  stop(): Promise<void>
}

const DELIVERY_DEADLINE_MS = 10_000
const NETWORK_LATENCY_MS = 300

export async function startStage(): Promise<Stage> {
  const service = await startService()
  // A request that waits for nothing is answered before the card network is: with 202.
  await setFaults(service, { latency_ms: NETWORK_LATENCY_MS })
  const receiver = await startReceiver(undefined, readLoopbackTls(service.dataDir))
  const helper = await startHelper(service, receiver)
  const [api, tokens] = [await startGrowingProxy(service.baseUrl), await startGrowingProxy(service.tokensUrl)]
  let runs = 0
  return {
    environment: isGrowing => ({
      BASE_URL: isGrowing ? api.url : service.baseUrl,
      TOKENS_URL: isGrowing ? tokens.url : service.tokensUrl,
      API_KEY: service.apiKey,
      PUBLISHABLE_KEY: service.publishableKey,
      WEBHOOK_URL: receiver.url,
      DRILL_URL: `${helper.url}/${isGrowing ? 'growing' : 'plain'}`,
      RUN: `run-${++runs}`
    }),
    async stop() {
      await Promise.all([api.stop(), tokens.stop(), helper.stop(), receiver.stop()])
      await service.stop()
    }
  }
}

/** `/plain/token/approved`: a new token. `/growing/delivery/<payment id>`: the delivery of its last change, with its signature. */
async function startHelper(service: ServiceUnderTest, receiver: Receiver): Promise<LoopbackServer> {
  const merchant = new Merchant(() => service)
  const client = new PaymentsClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, form, what, name = ''] = (request.url ?? '').split('/')
    if (what === 'token') return void response.end(await merchant.token(testCards[name as keyof typeof testCards]))
    const found = await deliveryOf(receiver, name)
    const { secret } = await client.webhookEndpoint.register({ url: receiver.url })
    const header = String(found.headers['x-service-signature'])
    const sent = form === 'growing' ? grownDelivery(found.body, header, secret) : { body: found.body, header }
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Service-Signature': sent.header }).end(sent.body)
  }
  return await startLoopbackServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
}

async function deliveryOf(receiver: Receiver, paymentId: string): Promise<Receiver['received'][number]> {
  const deadline = Date.now() + DELIVERY_DEADLINE_MS
  while (Date.now() < deadline) {
    const found = receiver.received.find(({ event }) => event['payment_id'] === paymentId)
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`no delivery for ${paymentId}`)
}
