/**
 * A TCP proxy that can lose connections as a vanished host does: without FIN or RST, so that neither side is told.
 *
 * From `blackhole()` on, the connections that exist stay open and carry nothing: what either side sends is dropped.
 * Connections that are made later work.
 */
import { connect, createServer, type Socket } from 'node:net'

export interface BlackholeProxy {
  readonly port: number
  /** Silences every connection of this moment, for ever. */
  blackhole(): void
  /** Silenced connections that the client has not closed yet. */
  silenced(): number
  /** Silenced connections that the client ended with RST: nothing of them can arrive later. */
  resets(): number
  /** Destroys all connections. */
  stop(): Promise<void>
}

/** Listens on a free port of the loopback interface and forwards to `targetPort` there. */
export function startBlackholeProxy(targetPort: number): Promise<BlackholeProxy> {
  const pairs = new Set<readonly [client: Socket, target: Socket]>()
  const silenced = new Set<Socket>()
  let resets = 0
  const server = createServer(client => {
    const target = connect({ port: targetPort, host: '127.0.0.1' })
    const pair = [client, target] as const
    pairs.add(pair)
    client.on('data', data => silenced.has(client) || target.write(data))
    target.on('data', data => silenced.has(client) || client.write(data))
    client.on('error', (error: NodeJS.ErrnoException) => {
      if (silenced.has(client) && error.code === 'ECONNRESET') resets++
    })
    target.on('error', () => client.destroy())
    client.on('close', () => {
      pairs.delete(pair)
      // The server is not told of the end of a silenced connection either.
      if (!silenced.delete(client)) target.destroy()
    })
    target.on('close', () => silenced.has(client) || client.destroy())
    targets.add(target)
    target.on('close', () => targets.delete(target))
  })
  const targets = new Set<Socket>()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : 0,
        blackhole: () => {
          for (const [client] of pairs) silenced.add(client)
        },
        silenced: () => silenced.size,
        resets: () => resets,
        stop: () =>
          new Promise(done => {
            server.close(() => done())
            for (const [client] of pairs) client.destroy()
            for (const target of targets) target.destroy()
          })
      })
    })
  })
}
