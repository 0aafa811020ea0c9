import { expect } from 'chai'
import { endlessLease } from '../../../workers/network/lease-until.js'
import { createTransport, type Exchange, type Transport } from '../../../workers/network/transport.js'
import { httpAnswer, type RawBehaviour, type RawServer, startRawServer } from '../../support/raw-server.js'

describe('announcements (1xx) that were not asked for', () => {
  let server: RawServer
  let transport: Transport

  async function start(behaviour: RawBehaviour): Promise<void> {
    server = await startRawServer(behaviour)
    const baseUrl = `http://127.0.0.1:${server.port}`
    transport = createTransport({ baseUrl, headers: {}, connections: 1, connectTimeoutMs: 8_000 })
  }

  const send = (): Promise<Exchange> => {
    const request = { method: 'PUT', path: '/1/sales/x/void', body: null, timeoutMs: 8_000 } as const
    return transport.send(request, endlessLease)
  }

  afterEach(async () => {
    await server.stop()
    await transport.close()
  })

  const announced: readonly (readonly [string, (answer: string) => readonly string[]])[] = [
    ['100 Continue', answer => [`HTTP/1.1 100 Continue\r\n\r\n${answer}`]],
    ['100 Continue in a piece of its own', answer => ['HTTP/1.1 100 Continue\r\n\r\n', answer]],
    ['100 Continue byte by byte', answer => [...`HTTP/1.1 100 Continue\r\nVia: a\r\n\r\n${answer}`]],
    ['several of them', answer => [`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(16)}${answer}`]],
    ['102 and 103', answer => [`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answer}`]]
  ]
  for (const [what, piecesOf] of announced) {
    it(`are skipped, and the answer counts: ${what}`, async () => {
      const body = 'HTTP/1.1 100 Continue\r\n\r\n is the body'
      await start({
        onRequest: async socket => {
          for (const piece of piecesOf(httpAnswer(201, body))) {
            socket.write(piece)
            await new Promise(done => setTimeout(done, piece.length < 50 ? 1 : 0))
          }
        }
      })
      for (let calls = 0; calls < 2; calls++) {
        expect(await send()).to.deep.equal({ kind: 'answered', status: 201, text: body })
      }
      expect(server.requestLines).to.have.length(2)
    })
  }

  it('end the exchange when they never stop', async () => {
    await start({ onRequest: socket => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)) })
    expect(await send()).to.include({ kind: 'ambiguous', isCut: true })
  })
})
