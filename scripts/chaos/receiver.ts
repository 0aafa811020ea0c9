/** The merchant's receiver of webhooks in a chaos run: keeps every event, and sometimes fails, as receivers do. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isRecord, parseJson } from '../../runtime/json.js'
import { readLoopbackTls } from '../supervisor/loopback-tls.js'

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
  /** From now on every delivery is accepted. */
  behave(): void
  stop(): Promise<void>
}

const FAILURE_CHANCE = 0.03

/** Listens with the certificate that the service's test environment trusts. */
export async function startReceiver(dataDir: string, random: () => number): Promise<ChaosReceiver> {
  const { cert, key } = await readLoopbackTls(dataDir)
  const events = new Map<string, ReceivedEvent[]>()
  let deliveries = 0
  let failureChance = FAILURE_CHANCE
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      deliveries++
      if (random() < failureChance) return void response.writeHead(500).end()
      note(events, parseJson(Buffer.concat(chunks).toString('utf8')))
      response.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook`,
    events,
    deliveries: () => deliveries,
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
