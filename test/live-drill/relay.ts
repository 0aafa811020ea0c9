/** A port that speaks TLS and passes connections on to another one, as the TLS terminator of the card network does. */
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'

export interface Relay {
  readonly port: number
  /** Cuts all connections. */
  close(): Promise<void>
}

/** `target`: the port that a new connection goes to; undefined: it is cut. */
export async function startRelay(target: () => number | undefined, { cert, key }: TlsMaterial): Promise<Relay> {
  const open = new Set<Socket>()
  const server = createServer({ cert, key }, client => {
    const port = target()
    if (port === undefined) return void client.destroy()
    const backend = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, backend],
      [backend, client]
    ] as const) {
      open.add(from)
      from.setNoDelay(true).pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      })
  }
}
