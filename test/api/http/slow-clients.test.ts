import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { createJsonApp, routerOf } from '../../../api/http/api-app.js'
import { type HttpLimits, type HttpServer, serve } from '../../../api/http/http-server.js'
import { readJson } from '../../../api/http/middleware/json-body.js'
import type { Route } from '../../../api/http/route.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'

const IMPATIENT = { headersTimeoutMs: 150, requestTimeoutMs: 300, answerTimeoutMs: 300, connectionsMax: 3 }
/** For connections that are to stay open while a test looks at others. */
const PATIENT = { ...IMPATIENT, headersTimeoutMs: 30_000, requestTimeoutMs: 30_000 }
const log = createLogger('test', 'silent')

/** More than the buffers of both kernels take. */
const HUGE = 32 * 1_024 * 1_024
const answersMuch: Route = {
  method: 'GET',
  path: '/v1/much',
  answer: () => ({ status: 200, body: 'x'.repeat(HUGE) })
}
const hangs: Route = { method: 'GET', path: '/v1/hangs', answer: () => new Promise(() => undefined) }
const readsBody: Route = {
  method: 'POST',
  path: '/v1/x',
  async answer(ctx) {
    await readJson(ctx, { isOptional: false })
    return { status: 200 }
  }
}

describe('the HTTP server against slow and many clients', () => {
  let server: HttpServer
  const sockets: Socket[] = []

  const start = async (limits: HttpLimits): Promise<void> => {
    server = await serve(createJsonApp(log, routerOf([readsBody, answersMuch, hangs])), {
      host: '127.0.0.1',
      port: 0,
      log,
      limits
    })
  }
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await server.stop()
  })

  /** A connection that has sent `text`, with what it received and whether the server has ended it. */
  function client(text: string): { socket: Socket; received: () => string; isEnded: () => boolean } {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    let isEnded = false
    socket.on('error', () => undefined)
    socket.on('close', () => {
      isEnded = true
    })
    socket.setEncoding('utf8').on('data', chunk => {
      received += chunk
    })
    if (text !== '') socket.write(text)
    sockets.push(socket)
    return { socket, received: () => received, isEnded: () => isEnded }
  }

  for (const [part, head] of [
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['body', 'POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n']
  ] as const) {
    it(`ends a request whose ${part} arrives byte by byte, with 408 request_timeout`, async () => {
      await start(IMPATIENT)
      const { socket, received, isEnded } = client(head)
      const dripping = setInterval(() => socket.write('X'), 20)
      await until('the server ends it', isEnded)
      clearInterval(dripping)
      expect(received())
        .to.match(/^HTTP\/1\.1 408 /)
        .and.match(/"code":"request_timeout".*did not arrive in time.*"retryable":true/)
    })
  }

  it('ends a connection that sends nothing', async () => {
    await start(IMPATIENT)
    await until('the server ends it', client('').isEnded)
  })

  it('cuts a connection whose client stops reading its answer', async () => {
    await start({ ...PATIENT, answerTimeoutMs: 300 })
    const { socket, received, isEnded } = client('GET /v1/much HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.once('data', () => socket.pause())
    await until('the answer has begun', () => received() !== '')
    // A stop waits for every answer that is in flight.
    await server.stop()
    socket.resume()
    await until('the rest of what was sent is read', isEnded)
    expect(received().length).to.be.lessThan(HUGE)
  })

  it('refuses a body in tiny chunks, and reads no more of it', async () => {
    await start(PATIENT)
    const head =
      'POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const few = client(`${head}${'1\r\n \r\n'.repeat(1_000)}2\r\n{}\r\n0\r\n\r\n`)
    await until('an answer', () => few.received() !== '')
    expect(few.isEnded()).to.equal(false)
    const many = client(`${head}${'1\r\n \r\n'.repeat(30_000)}2\r\n{}\r\n0\r\n\r\n`)
    await until('the server ends it', many.isEnded)
    expect(many.received()).to.match(/^HTTP\/1\.1 400 .*Connection: close.*more than 1024 pieces/s)
  })

  it('answers so many pipelined requests, refuses the next one, and ends the connection', async () => {
    await start(PATIENT)
    const one = 'GET /v1/none HTTP/1.1\r\nHost: x\r\n\r\n'
    const few = client(one.repeat(17))
    await until('all are answered', () => few.received().split('HTTP/1.1 404').length === 18)
    few.socket.write(one)
    await until('one more is answered', () => few.received().split('HTTP/1.1 404').length === 19)
    await until('the server ends a flood', client(one.repeat(2_000)).isEnded)
    const many = client(one.repeat(60))
    await until('the server ends it', many.isEnded)
    expect(many.received().match(/HTTP\/1\.1 \d+/g)).to.deep.equal([...Array(17).fill('HTTP/1.1 404'), 'HTTP/1.1 400'])
    expect(many.received()).to.contain('more than 16 requests before it')
  })

  it('cuts a flood of pipelined requests behind one that takes its time', async () => {
    await start(PATIENT)
    const flood = client('GET /v1/hangs HTTP/1.1\r\nHost: x\r\n\r\n')
    flood.socket.write('GET /v1/none HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
    await until('the server cuts it', flood.isEnded)
    expect(flood.received()).to.equal('')
  })

  it('closes connections beyond the limit at once, and serves those that are open', async () => {
    await start(PATIENT)
    const open = [client(''), client(''), client('')]
    await until('three are open', () => open.every(({ socket }) => !socket.connecting))
    const oneTooMany = client('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('the fourth is closed', oneTooMany.isEnded)
    expect(oneTooMany.received()).to.equal('')
    open[0]?.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('an answer', () => open[0]?.received().startsWith('HTTP/1.1 404'))
  })
})
