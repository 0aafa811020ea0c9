import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import Koa from 'koa'
import type { RequestState } from '../../../api/http/context.js'
import { connectionsMaxOf, type HttpLimits, serve } from '../../../api/http/http-server.js'
import type { Submission } from '../../../api/payments/payments-port.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { aCreateBody, aPayment, capturedProgress } from '../builders.js'
import { requestHead } from '../raw-http.js'
import { API_KEY, useApi } from '../running-api.js'

describe('the HTTP server stops without losing a request', () => {
  const api = useApi({}, beforeEach)

  it('answers requests in flight, then refuses connections', async () => {
    let answerIt: (submission: Submission) => void = () => undefined
    api.payments.submission = new Promise<Submission>(resolve => {
      answerIt = resolve
    })
    const inFlight = api.request('POST', '/v1/payments', { body: aCreateBody() })
    await until('the request', () => api.payments.creates.length === 1)

    const stopped = api.stop()
    await until('a refusal', () => isRefused(api.port))
    const result = { kind: 'succeeded', progress: capturedProgress() } as const
    answerIt({ kind: 'finished', terms: aPayment().terms, result, isReplay: false })
    expect((await inFlight).status).to.equal(201)
    await stopped
  })

  it('closes idle keep-alive connections at once', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await get(agent, api.port)
    const startedAtMs = performance.now()
    await api.stop()
    // An idle connection that the server does not close stays for 65 s.
    expect(performance.now() - startedAtMs).to.be.lessThan(60_000)
    agent.destroy()
  })

  it('keeps idle connections longer than a load balancer (60 s), which then closes first', async () => {
    const answer = await api.request('GET', '/v1/capabilities')
    expect(answer.headers.get('Keep-Alive')).to.equal('timeout=65')
  })

  it('answers a request that arrived when an idle connection is closed', async () => {
    const { server, port, log } = await serveQuickly()
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', chunk => {
      received += chunk
    })
    socket.write(requestHead('GET', '/'))
    await until('the first answer', () => received.includes('answered'))
    socket.write(requestHead('GET', '/'))
    // A busy process: the time of the connection is over before this process reads what has arrived.
    block(KEEP_ALIVE_MS + NODE_BUFFER_MS + 200)
    await until('the second answer, or the end', () => received.split('answered').length === 3 || socket.destroyed)
    expect(received.split('answered').length).to.equal(3)
    expect(log).to.deep.equal([])
    socket.destroy()
    await server.stop()
  })

  it('answers a request that arrived when it begins to stop', async () => {
    const { server, port } = await serveQuickly()
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', chunk => {
      received += chunk
    })
    socket.write(requestHead('GET', '/'))
    await until('the first answer', () => received.includes('answered'))
    socket.write(requestHead('GET', '/'))
    block(50)
    await server.stop()
    await until('the end', () => socket.readableEnded)
    expect(received.split('answered').length).to.equal(3)
    expect(received).to.match(/connection: close/i)
  })

  it('logs connections above its limit, which follows the descriptors that the process may open', async () => {
    expect([connectionsMaxOf(200), connectionsMaxOf(1_024), connectionsMaxOf(1_048_576)]).to.deep.equal([
      100, 768, 10_000
    ])
    const { server, port, log } = await serveQuickly({ connectionsMax: 1 })
    const [first, second] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    for (const socket of [first, second]) socket.on('error', () => undefined)
    await until('a closed connection', () => first.destroyed || second.destroyed || second.readableEnded)
    await until('the log', () => log.some(line => line.includes('a connection was closed unanswered')))
    for (const socket of [first, second]) socket.destroy()
    await server.stop()
  })
})

const KEEP_ALIVE_MS = 100
/** Newer Node adds a second to the time that it announces. */
const NODE_BUFFER_MS = 1_000

/** A server whose connections are idle for a tenth of a second at most, and what it logs. */
async function serveQuickly(limits: Partial<HttpLimits> = {}) {
  const app = new Koa<RequestState>()
  app.use(ctx => {
    ctx.body = 'answered'
  })
  const lines: string[] = []
  const log = createLogger('api', 'warn', { write: line => void lines.push(line) })
  const all = {
    headersTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    answerTimeoutMs: 5_000,
    connectionsMax: 100,
    ...limits
  }
  const options = { host: '127.0.0.1', port: 0, log, keepAliveTimeoutMs: KEEP_ALIVE_MS, limits: all }
  const server = await serve(app, options)
  return { server, port: server.port, log: lines }
}

function block(forMs: number): void {
  const endMs = performance.now() + forMs
  while (performance.now() < endMs);
}

function get(agent: Agent, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${API_KEY}` }
    request({ agent, port, host: '127.0.0.1', path: '/v1/capabilities', headers }, response => {
      response.resume().on('end', resolve)
    })
      .on('error', reject)
      .end()
  })
}

function isRefused(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}
