/**
 * A process that receives webhooks and counts them: `node webhook-receiver.js <data dir>`.
 * Prints its URL. `GET /count` and `GET /figures` report the events since the last `GET /figures`.
 */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { readLoopbackTls } from '../start/loopback-tls.js'
import { quantile } from './statistics.js'

const { cert, key } = await readLoopbackTls(process.argv[2] ?? '.data')
let lagsMs: number[] = []
let [firstMs, lastMs] = [0, 0]

const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/count') return void response.end(String(lagsMs.length))
  if (request.url === '/figures') {
    const sorted = lagsMs.sort((one, other) => one - other)
    const figures = {
      count: sorted.length,
      elapsedMs: lastMs - firstMs,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: sorted[sorted.length - 1] ?? 0
    }
    lagsMs = []
    return void response.end(JSON.stringify(figures))
  }
  let body = ''
  request.on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    lastMs = Date.now()
    if (lagsMs.length === 0) firstMs = lastMs
    lagsMs.push(lastMs - Date.parse(String(JSON.parse(body).occurred_at)))
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`https://localhost:${(server.address() as AddressInfo).port}\n`)
})
