/** The systems that are measured side by side, each as real processes on the same machine with the same Redis settings. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
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
  const request: LoadRequest = { path: '/', headers: { 'content-type': 'application/json' }, body }
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
}

/** This service: all processes of the Procfile. `write` takes what they print. */
export async function startService(
  dataDir: string,
  write: (text: string) => void = text => process.stderr.write(text)
): Promise<ServiceSystem> {
  const service = await ownService({
    root: resolve(import.meta.dirname, '../../..'),
    dataDir,
    scale: [],
    env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' },
    write
  })
  const running = await service.start()
  const demo = await readDemo(dataDir)
  if (!demo?.base_url) throw new Error('The service started without a demo merchant or an API.')
  return {
    name: 'service',
    url: demo.base_url,
    demo,
    redisUrl: running.redis.redisUrl,
    prepare: total => paymentsOf(demo, dataDir, running.redis.secretsRedisUrl, total),
    stop: () => service.stop()
  }
}

/** One request of the demo merchant to create a payment per token. */
async function paymentsOf(demo: Demo, dataDir: string, secretsUrl: string, total: number): Promise<RequestSource> {
  const sealer = loadSealer(`${dataDir}/vault/vault-public-keys.json`)
  const tokenIds = await withRedis(secretsUrl, secrets =>
    mintTokens(createTokenStore(secrets), sealer, demo.merchant_id, total)
  )
  return index => ({
    path: '/v1/payments',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${demo.api_key}`,
      'idempotency-key': tokenIds[index] ?? ''
    },
    body: bodyOf({ source_type: 'token', token_id: tokenIds[index] })
  })
}

const MINT_BATCH = 500

/** Tokens of a merchant, sealed and stored as by the process `tokens`. */
async function mintTokens(store: TokenStore, sealer: Sealer, merchantId: string, total: number): Promise<string[]> {
  const card = { number: '4024007153760060', holderName: 'Ada Lovelace', expirationMonth: '12', expirationYear: '2030' }
  const mint = async (): Promise<string> => {
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
  while (tokenIds.length < total) {
    const batch = Math.min(MINT_BATCH, total - tokenIds.length)
    tokenIds.push(...(await Promise.all(Array.from({ length: batch }, mint))))
  }
  return tokenIds
}

function run(file: string, redisUrl: string): ChildProcess {
  const path = new URL(`rivals/${file}.js`, import.meta.url).pathname
  const child = spawn(process.execPath, [path, redisUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' }
  })
  // A signal to the bench alone does not reach it.
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

/** The first line that a child prints. Rejects when it ends before. */
async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('unreachable: the output of the child is a pipe')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`A child process ended before it was ready (pid ${child.pid}).`)
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
