/** The merchant's receiver of webhooks in a chaos run: keeps every event, and sometimes fails, as receivers do. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isRecord, parseJson } from '../../runtime/json.js'
import { isAuthentic } from '../../scripts/shop/webhook-signature.js'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'

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
  /** From now on a delivery that none of the trusted secrets has signed is refused. `isOnly`: forgets the others. */
  trust(secret: string, isOnly?: boolean): void
  /** No more failures by chance. */
  behave(): void
  stop(): Promise<void>
}

const FAILURE_CHANCE = 0.03

/** Listens on this machine with a certificate that the service trusts. */
export async function startReceiver({ cert, key }: TlsMaterial, random: () => number): Promise<ChaosReceiver> {
  const events = new Map<string, ReceivedEvent[]>()
  const secrets = new Set<string>()
  let deliveries = 0
  let failureChance = FAILURE_CHANCE
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      deliveries++
      if (random() < failureChance) return void response.writeHead(500).end()
      const body = Buffer.concat(chunks)
      const signature = String(request.headers['x-service-signature'])
      const isTrusted = [...secrets].some(secret => isAuthentic(signature, body, secret, Date.now()))
      if (secrets.size > 0 && !isTrusted) return void response.writeHead(401).end()
      note(events, parseJson(body.toString('utf8')))
      response.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook`,
    events,
    deliveries: () => deliveries,
    trust(secret, isOnly = false) {
      if (isOnly) secrets.clear()
      secrets.add(secret)
    },
    behave: () => {
      failureChance = 0
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
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
