/**
 * The merchant's receiver of webhooks in a chaos run: keeps every event, and sometimes fails, as receivers do. It has a
 * thread of its own, because the clients keep the main thread busy, and a merchant's receiver does not wait for those.
 */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { webhooks } from '../../client/index.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import { createRandom } from '../simulation/random.js'

/** An event, at its first arrival. */
export interface ReceivedEvent {
  readonly eventId: string
  readonly status: string
  readonly occurredAt: string
}

export interface ChaosReceiver {
  readonly url: string
  /** By payment, in the order of arrival, each event once. */
  readonly events: ReadonlyMap<string, readonly ReceivedEvent[]>
  /** Deliveries, repeated ones included. */
  readonly deliveries: () => number
  /** From now on a delivery that none of the trusted secrets has signed is refused. */
  trust(secret: string): void
  /** No more failures. */
  behave(): void
  /** Every delivery fails, until `behave`. */
  fail(): void
  stop(): Promise<void>
}

type Order = { readonly trust: string } | 'behave' | 'fail'

interface Plan {
  readonly tls: TlsMaterial
  readonly seed: number
}

const FAILURE_CHANCE = 0.03

/** Listens on this machine with a certificate that the service trusts. `seed`: of its failures. */
export async function startReceiver(tls: TlsMaterial, seed: number): Promise<ChaosReceiver> {
  const plan: Plan = { tls, seed }
  const thread = new Worker(new URL(import.meta.url), { workerData: { chaosReceiver: plan } })
  const [url] = await once(thread, 'message')
  const events = new Map<string, ReceivedEvent[]>()
  let deliveries = 0
  thread.on('message', (body: string | null) => {
    deliveries++
    if (body !== null) note(events, parseJson(body))
  })
  const order = (order: Order): void => thread.postMessage(order)
  return {
    url: String(url),
    events,
    deliveries: () => deliveries,
    trust: secret => order({ trust: secret }),
    behave: () => order('behave'),
    fail: () => order('fail'),
    stop: async () => void (await thread.terminate())
  }
}

function note(events: Map<string, ReceivedEvent[]>, body: unknown): void {
  if (!isRecord(body)) return
  const event = {
    eventId: String(body['event_id']),
    status: String(body['status']),
    occurredAt: String(body['occurred_at'])
  }
  const id = String(body['payment_id'])
  const known = events.get(id) ?? []
  if (known.some(({ eventId }) => eventId === event.eventId)) return
  events.set(id, [...known, event])
}

/** Tells `tell` the URL, and then of every delivery the body, null when it was refused. Returns what takes orders. */
async function listen({ tls, seed }: Plan, tell: (text: string | null) => void): Promise<(order: Order) => void> {
  const random = createRandom(seed)
  const secrets = new Set<string>()
  let failureChance = FAILURE_CHANCE
  const statusOf = (signature: string, body: Buffer): number => {
    if (random.next() < failureChance) return 500
    return secrets.size > 0 && !isSigned(body, signature, [...secrets]) ? 401 : 204
  }
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const status = statusOf(String(request.headers['x-service-signature']), body)
      // Told first: an event whose answer is lost has arrived.
      tell(status === 204 ? body.toString('utf8') : null)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  tell(`https://localhost:${(server.address() as AddressInfo).port}/hook`)
  return order => {
    if (order === 'behave' || order === 'fail') failureChance = order === 'fail' ? 1 : 0
    else secrets.add(order.trust)
  }
}

function isSigned(body: Buffer, signature: string, secrets: readonly string[]): boolean {
  try {
    webhooks.verify(body, signature, secrets)
    return true
  } catch {
    return false
  }
}

if (parentPort !== null && isRecord(workerData) && isRecord(workerData['chaosReceiver'])) {
  const port = parentPort
  port.on('message', await listen(workerData['chaosReceiver'] as unknown as Plan, text => port.postMessage(text)))
}
