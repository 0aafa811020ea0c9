import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import type { Submission } from '../../../api/payments/payments-port.js'
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
    const underWay = api.request('POST', '/v1/payments', { body: aCreateBody() })
    await until('the request', () => api.payments.creates.length === 1)

    const stopped = api.stop()
    await until('a refusal', () => isRefused(api.port))
    const result = { kind: 'succeeded', progress: capturedProgress() } as const
    answerIt({ kind: 'finished', terms: aPayment().terms, result, isReplay: false })
    expect((await underWay).status).to.equal(201)
    await stopped
  })

  it('closes idle keep-alive connections at once', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await get(agent, api.port)
    const startedAtMs = performance.now()
    await api.stop()
    // An idle connection that the server does not close stays for 65 s.
    expect(performance.now() - startedAtMs).to.be.lessThan(3_000)
    agent.destroy()
  })

  it('may be stopped twice', async () => {
    await api.stop()
    await api.stop()
  })

  it('keeps idle connections longer than a load balancer (60 s), which then closes first', async () => {
    const answer = await api.request('GET', '/v1/capabilities')
    expect(answer.headers.get('Keep-Alive')).to.equal('timeout=65')
  })

  it('answers pipelined requests in their order', async () => {
    const socket = connect(api.port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', chunk => {
      received += chunk
    })
    socket.write(requestHead('GET', '/v1/none') + requestHead('GET', '/v1/capabilities', { Connection: 'close' }))
    await until('the end', () => socket.readableEnded)
    expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 404', 'HTTP/1.1 200'])
  })
})

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
