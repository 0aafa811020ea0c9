/** Answers on a connection belong to calls by their order alone, so a connection must have one call at a time. */

import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { endlessLease } from '../../../workers/network/lease-until.js'
import { createTransport, type Exchange, type Transport } from '../../../workers/network/transport.js'
import { httpAnswer, type RawBehaviour, type RawServer, startRawServer } from '../../support/raw-server.js'

describe('a connection to the card network', () => {
  let server: RawServer
  let transport: Transport

  const start = async (behaviour: RawBehaviour): Promise<void> => {
    server = await startRawServer(behaviour)
    transport = createTransport({ baseUrl: server.url, headers: {}, connections: 1, connectTimeoutMs: 8_000 })
  }
  const query = { method: 'GET', path: '/1/sales/x', body: null, timeoutMs: 8_000 } as const
  const send = (): Promise<Exchange> => transport.send(query, endlessLease)

  afterEach(async () => {
    await server.stop()
    await transport.close()
  })

  it('takes the next call only after the whole answer to the one before', async () => {
    let waiting = 0
    let waitingMax = 0
    await start({
      onRequest: async socket => {
        waitingMax = Math.max(waitingMax, ++waiting)
        await delay(20)
        waiting--
        socket.write(httpAnswer(200, '{}'))
      }
    })
    await send()
    await Promise.all(Array.from({ length: 5 }, send))
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
})
