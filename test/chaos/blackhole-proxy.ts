/**
 * A TCP proxy that can lose connections as a vanished host does: without FIN or RST, so that neither side is told.
 *
 * From `blackhole()` on, the connections that exist stay open and carry nothing: what either side sends is dropped.
 * Connections that are made later work.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface BlackholeProxy {
  /** The target's URL with the port of the proxy. */
  readonly url: string
  /** Silences every connection of this moment. */
  blackhole(): void
  /** Silenced connections that the client has not closed yet. */
  silenced(): number
  /** Silenced connections that the client ended with RST: nothing of them can arrive later. */
  resets(): number
  /** The vanished host is back, and knows the silenced connections no more: resets them. */
  restore(): void
  /** Destroys all connections. */
  stop(): Promise<void>
}

/** Listens on a free port of the loopback interface and forwards to the port of `targetUrl` there. */
export async function startBlackholeProxy(targetUrl: string): Promise<BlackholeProxy> {
  const url = new URL(targetUrl)
  const targetPort = Number(url.port)
  const clients = new Set<Socket>()
  const targets = new Set<Socket>()
  const silenced = new Set<Socket>()
  let resets = 0
  const server = createServer({ noDelay: true }, client => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    clients.add(client)
    targets.add(target)
    client.on('data', data => silenced.has(client) || target.write(data))
    target.on('data', data => silenced.has(client) || client.write(data))
    client.on('error', (error: NodeJS.ErrnoException) => {
      if (silenced.has(client) && error.code === 'ECONNRESET') resets++
    })
    target.on('error', () => undefined)
    client.on('close', () => {
      clients.delete(client)
      // The server is not told of the end of a silenced connection either.
      if (!silenced.delete(client)) target.destroy()
    })
    target.on('close', () => {
      targets.delete(target)
      if (!silenced.has(client)) client.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    blackhole: () => {
      for (const client of clients) silenced.add(client)
    },
    silenced: () => silenced.size,
    resets: () => resets,
    restore: () => {
      for (const client of silenced) client.resetAndDestroy()
    },
    stop: () =>
      new Promise(done => {
        server.close(() => done())
        for (const socket of [...clients, ...targets]) socket.destroy()
      })
  }
}
