/**
 * `npm run bench:webhooks`: how fast events are delivered: a backlog, and beside the payments that make them. Everything
 * runs on this machine: service, Redis, simulator, receiver (https), load generator.
 */
import { spawn } from 'node:child_process'
import { Agent, request } from 'undici'
import { PaymentsClient } from '../../client/index.js'
import { newPayment, noTexts, type Payment } from '../../machines/model.js'
import { type StatusChange, statusChangeOf } from '../../machines/status-change.js'
import { connect, disconnect } from '../../redis/connection/connections.js'
import { createdAtMs, idempotencyRecord, keys, newPaymentId, partitionOf, paymentKeyOf } from '../../redis/keys.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { WebhookLog } from '../../redis/webhooks/webhook-log.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { stopOnSignals } from '../command-line/ending.js'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { readLoopbackTls } from '../start/loopback-tls.js'
import { readFigure } from './costs.js'
import { runClosedLoop } from './load.js'
import { firstLine, type ServiceSystem, startService } from './systems.js'

const EVENTS = 20_000
const PAYMENTS = 6_000
const CONNECTIONS = 128
const PARTITIONS = 16
const PATIENCE_MS = 120_000
const POLL_MS = 100

interface Figures {
  readonly count: number
  readonly elapsedMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

readCommandLine(
  toolCommand({
    name: 'bench:webhooks',
    does: 'Measures how fast events are delivered: a backlog, and beside the payments that make them. Runs a service of its own; needs no `npm start`, and does not touch the data of one.',
    takes: 'a minute or two. Run nothing else on the machine.'
  })
)
stopOnSignals()
const progress = (line: string): void => void process.stdout.write(`${line}\n`)
const place = await temporaryFolder('payments-bench-webhooks-')
const dir = place.path
const service = await startService(dir)
const redis = await connect(service.redisUrl, 'commands', createLogger('bench', 'error'))
const receiver = spawn(process.execPath, [new URL('webhook-receiver.js', import.meta.url).pathname, dir], {
  stdio: ['ignore', 'pipe', 'inherit']
})
const agent = new Agent({ connect: { ca: (await readLoopbackTls(dir)).ca } })
try {
  const url = await firstLine(receiver)
  const before = await pay(service)
  progress(`payments without a webhook endpoint: ${before.toFixed(0)}/s`)
  const client = new PaymentsClient({ baseUrl: service.url, apiKey: service.demo.api_key })
  await client.webhookEndpoint.register({ url: `${url}/hook` })

  const idleMs = await cpuMs()
  await emit(service.demo.merchant_id, EVENTS)
  const backlog = await arrived(url, EVENTS)
  const eachMs = ((await cpuMs()) - idleMs) / EVENTS
  const cost = `${eachMs.toFixed(2)} ms of CPU each, so ${(1_000 / eachMs).toFixed(0)} a core`
  progress(`a backlog of ${EVENTS}, one merchant, one process: ${perSecond(backlog)} events/s (${cost})`)

  const beside = await pay(service)
  const made = await arrived(url, PAYMENTS)
  const lag = `p50 ${made.p50Ms} ms, p99 ${made.p99Ms} ms, at most ${made.maxMs} ms`
  progress(`payments with one: ${beside.toFixed(0)}/s; their events: ${perSecond(made)}/s, ${lag} after the change`)
} finally {
  receiver.kill()
  await agent.close()
  await disconnect(redis)
  await service.stop()
  await place.remove()
}

async function pay(target: ServiceSystem): Promise<number> {
  const source = await target.prepare(PAYMENTS)
  return (await runClosedLoop(target.url, { total: PAYMENTS, connections: CONNECTIONS }, source)).perSecond
}

/** Events of payments, stored as commits store both. */
async function emit(merchantId: string, count: number): Promise<void> {
  const partition = partitionOf(merchantId, PARTITIONS)
  const eventLog = new WebhookLog(redis, PARTITIONS)
  for (let made = 0; made < count; made += 500) {
    const pipeline = redis.pipeline()
    const changes: StatusChange[] = []
    for (let n = 0; n < Math.min(500, count - made); n++) {
      const payment = acceptedPayment(merchantId, newPaymentId(partition, Date.now()))
      pipeline.set(keys.payment(partition, paymentKeyOf(payment.terms.id)), encodePayment(payment))
      changes.push(statusChangeOf(payment, Date.now()))
    }
    await pipeline.exec()
    await eventLog.append(merchantId, 'delivered', changes, Date.now())
  }
}

/** Waits until the receiver has `count` more events. */
async function arrived(url: string, count: number): Promise<Figures> {
  const endMs = Date.now() + PATIENCE_MS
  while ((await read<number>(`${url}/count`)) < count && Date.now() < endMs) {
    await delay(POLL_MS)
  }
  const figures = await read<Figures>(`${url}/figures`)
  if (figures.count < count)
    throw new Error(`${figures.count} of ${count} events have arrived within ${PATIENCE_MS} ms`)
  return figures
}

/** CPU time of `webhooks` so far. Other work on the machine hardly changes it. */
async function cpuMs(): Promise<number> {
  return 1_000 * (await readFigure(dir, 'webhooks.1', 'process_cpu_seconds_total'))
}

async function read<T>(url: string): Promise<T> {
  const { body } = await request(url, { dispatcher: agent })
  return (await body.json()) as T
}

function perSecond({ count, elapsedMs }: Figures): string {
  return ((1_000 * count) / elapsedMs).toFixed(0)
}

/** A payment right after it was accepted. */
function acceptedPayment(merchantId: string, id: string): Payment {
  return newPayment(
    {
      id,
      merchantId,
      externalReference: `order-${id}`,
      captureMode: 'auto',
      amountCents: 1_990,
      currency: 'BRL',
      installments: 1,
      ...noTexts,
      card: { brand: 'visa', last4: '0060', cardId: null },
      customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
      metadata: { basket: '4711' },
      preauthTtlMs: 7 * 24 * 3_600_000,
      createdAtMs: createdAtMs(id)
    },
    idempotencyRecord(merchantId, id)
  )
}
