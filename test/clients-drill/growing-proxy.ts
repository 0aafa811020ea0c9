/**
 * The service as it may be in a year: a proxy in front of it adds a field to every object of every answer, and answers
 * a status, kind, state or code that no client knows. What clients do with its events is the same: `grownDelivery`.
 */
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isRecord } from '../../runtime/json.js'
import { type LoopbackServer, startLoopbackServer } from './loopback-server.js'

/** Behind every known value. The stories take it off again, to see what they know. */
const SUFFIX = '_added'
const GROWING = /^(status|state|kind|code|decline_reason|event_type|capture_mode)$/

/** Forwards to `target`, and lets every answer grow. */
export function startGrowingProxy(target: string): Promise<LoopbackServer> {
  return startLoopbackServer((request, response) => {
    forward(target, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
}

/** Left to each of both connections. */
const OWN_HEADERS = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
  'accept-encoding',
  // Clients of Java ask for HTTP/2.
  'upgrade',
  'http2-settings'
]

async function forward(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const headers = Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.includes(name))
  const answer = await fetch(`${target}${request.url}`, {
    method: request.method ?? 'GET',
    headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
    body: pieces.length === 0 ? null : Buffer.concat(pieces)
  })
  const text = await answer.text()
  const kept = [...answer.headers].filter(([name]) => !OWN_HEADERS.includes(name))
  response.writeHead(answer.status, { ...Object.fromEntries(kept), 'X-Added': '1' })
  response.end(text === '' ? '' : JSON.stringify(grown(JSON.parse(text))))
}

/** An event with more in it, signed as the service would sign it. */
export function grownDelivery(body: string, header: string, secret: string): { body: string; header: string } {
  const [, sentAt = ''] = /^t=(\d+)/.exec(header) ?? []
  const more = JSON.stringify(grown(JSON.parse(body)))
  return {
    body: more,
    header: `t=${sentAt},v1=${createHmac('sha256', secret).update(`${sentAt}.${more}`).digest('hex')}`
  }
}

function grown(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map(one => grown(one))
  if (typeof value === 'string' && GROWING.test(name)) return `${value}${SUFFIX}`
  // Metadata is the merchant's own: it has no fields of ours.
  if (!isRecord(value) || name === 'metadata') return value
  const fields = Object.entries(value).map(([key, one]) => [key, grown(one, key)])
  return { ...Object.fromEntries(fields), added_field: { deep: ['text', 1, null] } }
}
