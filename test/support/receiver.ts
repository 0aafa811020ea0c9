/** A merchant's side of webhooks: a real HTTPS server on this machine, with a certificate of an authority of its own. */
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeLoopbackTls, type TlsMaterial } from '../../scripts/start/loopback-tls.js'

/** One request as it arrived. */
export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly event: Record<string, unknown>
  readonly atMs: number
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** Requests that are in flight at this moment, and the most there ever were. */
  readonly load: { now: number; most: number }
  /** `payment_id`s of what was answered with 2xx, with their statuses in order of arrival. */
  accepted(): Map<string, string[]>
  answer: Answer
  stop(): Promise<void>
}

/** Answers a request; `index` counts from 0. The default answers 204. */
export type Answer = (response: ServerResponse, index: number, received: Received) => void

let sharedTls: Promise<TlsMaterial> | undefined

/** The authority and certificate that all receivers of a run share. */
export function receiverTls(): Promise<TlsMaterial> {
  sharedTls ??= makeLoopbackTls()
  return sharedTls
}

export async function startReceiver(
  answer: Answer = response => response.writeHead(204).end(),
  tls: TlsMaterial | Promise<TlsMaterial> = receiverTls()
): Promise<Receiver> {
  const { cert, key } = await tls
  const received: Received[] = []
  const accepted: Received[] = []
  const load = { now: 0, most: 0 }
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    load.now++
    load.most = Math.max(load.most, load.now)
    response.once('close', () => {
      load.now--
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const arrival = { headers: request.headers, body, event: JSON.parse(body), atMs: Date.now() }
      received.push(arrival)
      response.once('finish', () => response.statusCode < 300 && accepted.push(arrival))
      receiver.answer(response, received.length - 1, arrival)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook?from=test`,
    received,
    load,
    answer,
    accepted: () => {
      const byPayment = new Map<string, string[]>()
      for (const { event } of accepted) {
        const id = String(event['payment_id'])
        byPayment.set(id, [...(byPayment.get(id) ?? []), String(event['status'])])
      }
      return byPayment
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return receiver
}

/** Which `v1` of a request's signature are valid under a secret, by a second implementation (docs/WEBHOOKS.md). */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const header = String(headers['x-service-signature'])
  const t = /^t=(\d+),/.exec(header)?.[1] ?? ''
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
  return header.split(',').includes(`v1=${expected}`)
}
