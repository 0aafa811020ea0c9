/** The systems that are measured side by side, each as real processes on the same machine with the same Redis settings. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { createTokenStore, newTokenId, type TokenStore } from '../../redis/tokens/tokens.js'
import { loadSealer, type Sealer } from '../../vault/sealer.js'
import { type Demo, readDemo } from '../start/demo.js'
import { demoCustomer } from '../start/demo-customer.js'
import { ownService } from '../start/own-service.js'
import { withRedis } from '../start/with-redis.js'
import type { LoadRequest, RequestSource } from './load.js'

export interface System {
  readonly name: string
  readonly url: string
  /** The durable Redis that it writes to. */
  readonly redisUrl: string
  /** Creates the one-use tokens for `total` requests, outside the measured time. */
  prepare(total: number): Promise<RequestSource>
  readonly stop: () => Promise<void>
}

/** Body of the requests to all systems: a whole create-payment request. */
function bodyOf(source: object): string {
  return JSON.stringify({
    amount_cents: 1_990,
    external_reference: 'order-1',
    statement_descriptor: 'LOJA',
    payment_source: source,
    customer: demoCustomer,
    metadata: { basket: '4711' }
  })
}

/** A rival: an API file and a worker file that get the Redis URL. */
export async function startRival(name: 'bare' | 'bullmq', redisUrl: string): Promise<System> {
  const worker = run(`${name}-worker`, redisUrl)
  await firstLine(worker)
  const api = run(`${name}-api`, redisUrl)
  const url = await firstLine(api)
  const body = bodyOf({ source_type: 'token', token_id: newTokenId() })
  const request: LoadRequest = { method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body }
  return {
    name,
    url,
    redisUrl,
    prepare: async () => () => request,
    stop: async () => {
      await Promise.all([api, worker].map(end))
    }
  }
}

export interface ServiceSystem extends System {
  readonly demo: Demo
  readonly secretsRedisUrl: string
  readonly dataDir: string
  /** One address per API process. */
  readonly apiUrls: readonly string[]
}

/** The merchant of a request. */
type Payer = Pick<Demo, 'merchant_id' | 'api_key'>

/** This service: all processes of the Procfile. `env` and `scale` as for `npm start`. */
export async function startService(
  dataDir: string,
  options: { env: Record<string, string>; scale: readonly string[]; write?: (text: string) => void }
): Promise<ServiceSystem> {
  const service = await ownService({
    root: resolve(import.meta.dirname, '../../..'),
    dataDir,
    scale: options.scale,
    env: { LOG_LEVEL: 'warn', NODE_ENV: 'production', ...options.env },
    write: options.write ?? (text => process.stderr.write(text))
  })
  const running = await service.start()
  const demo = await readDemo(dataDir)
  if (!demo?.base_url) throw new Error('The service started without a demo merchant or an API.')
  return {
    name: 'service',
    url: demo.base_url,
    demo,
    dataDir,
    redisUrl: running.redis.redisUrl,
    secretsRedisUrl: running.redis.secretsRedisUrl,
    apiUrls: [...running.ports].flatMap(([name, { host, port }]) =>
      name.startsWith('api.') ? `http://${host}:${port}` : []
    ),
    prepare: total => paymentsOf([demo], dataDir, running.redis.secretsRedisUrl, total),
    stop: () => service.stop()
  }
}

/** The same service with requests of `count` merchants in turn, which are spread over the partitions. */
export async function spreadOver(service: ServiceSystem, name: string, count: number): Promise<ServiceSystem> {
  const payers: Payer[] = []
  await withRedis(service.redisUrl, async redis => {
    const store = new MerchantStore(redis, 'test')
    for (let i = 0; i < count; i++) {
      const { merchantId } = await store.createMerchant(`Merchant ${i}`)
      const { fullKey } = await store.createKey({ merchantId, permissions: ['payments:write', 'payments:read'] })
      payers.push({ merchant_id: merchantId, api_key: fullKey })
    }
  })
  const prepare = (total: number): Promise<RequestSource> =>
    paymentsOf(payers, service.dataDir, service.secretsRedisUrl, total)
  return { ...service, name, prepare }
}

/** A read by the demo merchant. */
export function get(service: ServiceSystem, path: string): LoadRequest {
  return { method: 'GET', path, headers: { authorization: `Bearer ${service.demo.api_key}` }, body: null }
}

/** One request to create a payment per token. */
async function paymentsOf(
  payers: readonly Payer[],
  dataDir: string,
  secretsUrl: string,
  total: number
): Promise<RequestSource> {
  const payerOf = (index: number): Payer => {
    const payer = payers[index % payers.length]
    if (payer === undefined) throw new Error('unreachable: there is a payer')
    return payer
  }
  const merchantIds = Array.from({ length: total }, (_, index) => payerOf(index).merchant_id)
  const sealer = loadSealer(`${dataDir}/vault/vault-public-keys.json`)
  const tokenIds = await withRedis(secretsUrl, secrets => mintTokens(createTokenStore(secrets), sealer, merchantIds))
  return index => ({
    method: 'POST',
    path: '/v1/payments',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${payerOf(index).api_key}`,
      'idempotency-key': tokenIds[index] ?? ''
    },
    body: bodyOf({ source_type: 'token', token_id: tokenIds[index] })
  })
}

const MINT_BATCH = 500

/** A token for each of the merchants, sealed and stored as by the process `tokens`. */
async function mintTokens(store: TokenStore, sealer: Sealer, merchantIds: readonly string[]): Promise<string[]> {
  const card = { number: '4024007153760060', holderName: 'Ada Lovelace', expirationMonth: '12', expirationYear: '2030' }
  const mint = async (merchantId: string): Promise<string> => {
    const tokenId = newTokenId()
    const context = { merchantId, subjectId: tokenId }
    const boxes = {
      cardBox: sealer.sealCard(card, context),
      typedBox: sealer.sealTyped({ ...card, cvv: '123' }, context)
    }
    await store.put({ ...card, ...boxes, tokenId, merchantId, brand: 'visa', last4: '0060' }, 900_000)
    return tokenId
  }
  const tokenIds: string[] = []
  for (let made = 0; made < merchantIds.length; made += MINT_BATCH) {
    tokenIds.push(...(await Promise.all(merchantIds.slice(made, made + MINT_BATCH).map(mint))))
  }
  return tokenIds
}

function run(file: string, redisUrl: string): ChildProcess {
  const path = new URL(`rivals/${file}.js`, import.meta.url).pathname
  return spawn(process.execPath, [path, redisUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' }
  })
}

/** The first line that a child prints. Rejects when it ends before. */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('unreachable: the output of the child is a pipe')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`A child process ended before it was ready (pid ${child.pid}).`)
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
