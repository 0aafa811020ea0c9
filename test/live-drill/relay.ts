/** A port that passes connections on, as a TLS terminator or a load balancer does. It can be closed and opened again. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'

export class Relay {
  readonly port: number
  readonly #server: Server
  readonly #open = new Set<Socket>()

  private constructor(port: number, server: Server) {
    this.port = port
    this.#server = server
  }

  /** `target`: the port that a new connection goes to; undefined: it is cut. With `tls` clients speak TLS. */
  static async start(target: () => number | undefined, tls?: TlsMaterial): Promise<Relay> {
    const server = tls === undefined ? createServer() : createTlsServer({ cert: tls.cert, key: tls.key })
    const relay = new Relay(await freePort(), server)
    server.on(tls === undefined ? 'connection' : 'secureConnection', (client: Socket) => {
      const port = target()
      if (port === undefined) return void client.destroy()
      const backend = connect(port, '127.0.0.1')
      for (const [from, to] of [
        [client, backend],
        [backend, client]
      ] as const) {
        relay.#open.add(from)
        from.setNoDelay(true).pipe(to)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          relay.#open.delete(from)
          to.destroy()
        })
      }
    })
    await relay.open()
    return relay
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.port, '127.0.0.1', resolve)
    })
  }

  /** Refuses connections from now on, and cuts those that there are. */
  close(): Promise<void> {
    return new Promise(resolve => {
      this.#server.close(() => resolve())
      for (const socket of this.#open) socket.destroy()
    })
  }
}
