/** Against servers that misbehave byte by byte: what is surely not sent, what is ambiguous, and nothing sent twice. */
import { expect } from 'chai'
import { type Dispatcher, Pool } from 'undici'
import type { Lease } from '../../../machines/lease.js'
import { delay } from '../../../runtime/delay.js'
import { endlessLease, leaseUntil } from '../../../workers/network/leases.js'
import { createTransport, type Exchange, type Transport } from '../../../workers/network/transport.js'
import { httpAnswer, type RawBehaviour, type RawServer, startRawServer } from '../../support/raw-server.js'

/** For what never comes; everything else has all the time that a slow machine may want. */
const SHORT_MS = 80
const LONG_MS = 8_000

/** The caller of each request gives up as soon as the request has arrived; the answer comes right behind. */
function abortsThenAnswers(callers: AbortController[]): RawBehaviour {
  return {
    onRequest: socket => {
      callers.shift()?.abort()
      socket.write(httpAnswer(200, '{}'))
    }
  }
}

describe('the transport to the card network', () => {
  let server: RawServer
  let transport: Transport

  async function start(behaviour: RawBehaviour, changes: { protocol?: string; connectTimeoutMs?: number } = {}) {
    server = await startRawServer(behaviour)
    transport = createTransport({
      baseUrl: `${changes.protocol ?? 'http'}://127.0.0.1:${server.port}`,
      headers: { MerchantId: 'id' },
      connections: 1,
      connectTimeoutMs: changes.connectTimeoutMs ?? LONG_MS
    })
  }

  function send(lease: Lease = endlessLease, timeoutMs = LONG_MS, method: 'GET' | 'PUT' = 'PUT'): Promise<Exchange> {
    return transport.send({ method, path: '/1/sales/x/void', body: null, timeoutMs }, lease)
  }

  afterEach(async () => {
    await server.stop()
    await transport.close()
  })

  it('returns status and text of an answer', async () => {
    await start({ onRequest: socket => socket.write(httpAnswer(201, '{"a":1}')) })
    expect(await send()).to.deep.equal({ kind: 'answered', status: 201, text: '{"a":1}' })
  })

  it('reports a refused connection as not sent', async () => {
    await start({})
    await server.stop()
    expect(await send()).to.deep.equal({ kind: 'not_sent', reason: 'ECONNREFUSED' })
  })

  it('refuses the second start of a call that the client library moves to another connection', async () => {
    await start({})
    const aborted: string[] = []
    const controllerOf = (name: string): Dispatcher.DispatchController =>
      ({ abort: () => aborted.push(name) }) as unknown as Dispatcher.DispatchController
    const { dispatch } = Pool.prototype
    Pool.prototype.dispatch = (_, handler) => {
      handler.onRequestStart?.(controllerOf('first'), {})
      handler.onRequestStart?.(controllerOf('second'), {})
      return true
    }
    const exchange = send()
    Pool.prototype.dispatch = dispatch
    expect(await exchange).to.deep.equal({ kind: 'ambiguous', reason: 'the connection was lost before the answer' })
    expect(aborted).to.include('second')
  })

  it('reports a failed TLS handshake as not sent', async () => {
    await start({ onConnection: socket => socket.end('no TLS here') }, { protocol: 'https' })
    expect(await send()).to.include({ kind: 'not_sent' })
    expect(server.requestLines).to.be.empty
  })

  it('reports a TLS handshake that hangs as not sent', async () => {
    await start({}, { protocol: 'https', connectTimeoutMs: SHORT_MS })
    expect(await send()).to.include({ kind: 'not_sent' })
  })

  const ambiguousServers: Record<string, RawBehaviour> = {
    'that cuts a connection after it read': { onRequest: socket => socket.destroy() },
    'that resets a connection after it read': { onRequest: socket => socket.resetAndDestroy() },
    'that never answers': {},
    'that answers no HTTP': { onRequest: socket => socket.end('hello\r\n\r\n') },
    'that ends within the head': { onRequest: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Le') },
    'that ends within the body': { onRequest: socket => socket.end(httpAnswer(200, '{"Status":2}').slice(0, -4)) },
    'that stops within the body': { onRequest: socket => socket.write(httpAnswer(200, '{"Status":2}').slice(0, -4)) },
    'that sends far too much': { onRequest: socket => socket.write(httpAnswer(200, ' '.repeat(300_000))) }
  }
  for (const [description, behaviour] of Object.entries(ambiguousServers)) {
    it(`reports a server ${description} as ambiguous`, async () => {
      await start(behaviour)
      expect(await send(endlessLease, SHORT_MS)).to.include({ kind: 'ambiguous' })
      expect(server.requestLines.length).to.be.at.most(1)
    })
  }

  it('reports a reset connection as not sent only when no byte was read', async () => {
    await start({ onConnection: socket => setImmediate(() => socket.resetAndDestroy()) })
    for (let call = 0; call < 10; call++) {
      const readBefore = server.requestLines.length
      const { kind } = await send()
      expect(kind).to.be.oneOf(['not_sent', 'ambiguous'])
      if (kind === 'not_sent') expect(server.requestLines).to.have.length(readBefore)
    }
  })

  it('has one deadline for the whole answer, however slowly the body arrives', async () => {
    let dripping: NodeJS.Timeout | undefined
    await start({
      onRequest: socket => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
        dripping = setInterval(() => socket.write(' '), 10)
        socket.on('close', () => clearInterval(dripping))
      }
    })
    const reason = `no whole answer within ${SHORT_MS} ms`
    expect(await send(endlessLease, SHORT_MS)).to.deep.equal({ kind: 'ambiguous', reason })
  })

  it('never sends a call that found no free connection in time, not even later', async () => {
    const answers: (() => void)[] = []
    const patienceMs = 400
    const behaviour: RawBehaviour = { onRequest: socket => answers.push(() => socket.write(httpAnswer(200, '{}'))) }
    await start(behaviour, { connectTimeoutMs: patienceMs })
    const first = send()
    expect(await send()).to.deep.equal({ kind: 'not_sent', reason: `no connection within ${patienceMs} ms` })
    answers[0]?.()
    expect(await first).to.include({ kind: 'answered' })
    const third = send()
    while (answers.length < 2) await new Promise(resolve => setImmediate(resolve))
    answers[1]?.()
    expect(await third).to.include({ kind: 'answered' })
    expect(server.requestLines).to.have.length(2)
  })

  it('does not send at all when the lease is lost already', async () => {
    await start({})
    expect(await send(leaseUntil(AbortSignal.abort()))).to.deep.equal({
      kind: 'not_sent',
      reason: 'the caller gave up'
    })
    expect(server.requestLines).to.be.empty
  })

  it('reports a call after its end as not sent', async () => {
    await start({})
    await transport.close()
    expect(await send()).to.include({ kind: 'not_sent' })
    expect(server.requestLines).to.be.empty
  })

  it('gives up a query that is aborted in flight, and lets a call that moves money run to its end', async () => {
    const [asking, paying] = [new AbortController(), new AbortController()]
    await start(abortsThenAnswers([asking, paying]))
    expect(await send(leaseUntil(asking.signal), LONG_MS, 'GET')).to.deep.equal({
      kind: 'ambiguous',
      reason: 'the caller gave up'
    })
    expect(await send(leaseUntil(paying.signal))).to.include({ kind: 'answered' })
  })

  it('never sends a request again that a kept-alive connection swallowed', async () => {
    await start({
      onRequest: (socket, index) => (index === 0 ? socket.write(httpAnswer(200, '{}')) : socket.destroy())
    })
    expect(await send()).to.include({ kind: 'answered' })
    expect(await send()).to.include({ kind: 'ambiguous' })
    expect(server.requestLines).to.have.length(2)
  })

  it('never sends a request twice while the other side keeps closing idle connections', async () => {
    await start({
      onRequest: socket => {
        socket.write(httpAnswer(200, '{}'))
        setImmediate(() => socket.destroy())
      }
    })
    const kinds: string[] = []
    for (let call = 0; call < 60; call++) {
      kinds.push((await send()).kind)
      // Now the close wins the race, now the next request.
      for (let turn = 0; turn < call % 4; turn++) await new Promise(resolve => setImmediate(resolve))
    }
    const maySent = kinds.filter(kind => kind !== 'not_sent').length
    const answered = kinds.filter(kind => kind === 'answered').length
    expect(server.requestLines.length).to.be.within(answered, maySent)
  })

  it('does not send when the lease, asked once there is a connection, is lost', async () => {
    await start({ onRequest: socket => socket.write(httpAnswer(200, '{}')) })
    let asked = 0
    expect(await send({ ...endlessLease, isLost: () => ++asked >= 2 })).to.include({ kind: 'not_sent' })
    expect(server.requestLines).to.be.empty
  })

  // Answers on a connection belong to calls by their order alone.
  it('takes the next call only after the whole answer to the one before', async () => {
    let [waiting, waitingMax] = [0, 0]
    await start({
      onRequest: async socket => {
        waitingMax = Math.max(waitingMax, ++waiting)
        await delay(20)
        waiting--
        socket.write(httpAnswer(200, '{}'))
      }
    })
    await send()
    await Promise.all(Array.from({ length: 5 }, () => send()))
    expect([server.requestLines.length, waitingMax]).to.deep.equal([6, 1])
  })

  it('does not give a surplus answer to the next call', async () => {
    await start({
      onRequest: (socket, index) => {
        socket.write(httpAnswer(200, `{"call":${index}}`))
        if (index === 0) setTimeout(() => socket.write(httpAnswer(200, '{"call":"surplus"}')), 20)
      }
    })
    expect(await send()).to.include({ kind: 'answered', text: '{"call":0}' })
    await delay(200)
    expect(await send()).to.include({ kind: 'answered', text: '{"call":1}' })
  })

  const announced: Readonly<Record<string, (answer: string) => readonly string[]>> = {
    '100 Continue': answer => [`HTTP/1.1 100 Continue\r\n\r\n${answer}`],
    '100 Continue in a piece of its own': answer => ['HTTP/1.1 100 Continue\r\n\r\n', answer],
    '100 Continue byte by byte': answer => [...`HTTP/1.1 100 Continue\r\nVia: a\r\n\r\n${answer}`],
    'several of them': answer => [`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(16)}${answer}`],
    '102 and 103': answer => [`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answer}`]
  }
  for (const [what, piecesOf] of Object.entries(announced)) {
    it(`skips announcements (1xx) that were not asked for: ${what}`, async () => {
      const body = 'HTTP/1.1 100 Continue\r\n\r\n is the body'
      await start({
        onRequest: async socket => {
          for (const piece of piecesOf(httpAnswer(201, body))) {
            socket.write(piece)
            await delay(piece.length < 50 ? 1 : 0)
          }
        }
      })
      for (let calls = 0; calls < 2; calls++) {
        expect(await send()).to.deep.equal({ kind: 'answered', status: 201, text: body })
      }
      expect(server.requestLines).to.have.length(2)
    })
  }

  it('ends the exchange when announcements never stop', async () => {
    await start({ onRequest: socket => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)) })
    expect(await send()).to.include({ kind: 'ambiguous', isCut: true })
  })
})
