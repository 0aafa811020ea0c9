/** A server that speaks no HTTP of its own: each test decides, byte by byte, how the other side misbehaves. */
import { createServer, type Socket } from 'node:net'

export interface RawServer {
  readonly url: string
  readonly port: number
  /** What each request began with (`PUT /1/sales/...`), in the order of arrival. */
  readonly requestLines: readonly string[]
  /** Destroys all connections. */
  stop(): Promise<void>
}

export interface RawBehaviour {
  /** Called for every connection, before anything is read. */
  readonly onConnection?: (socket: Socket) => void
  /** Called when a whole request has arrived; `index` counts from 0. */
  readonly onRequest?: (socket: Socket, index: number) => void
}

/** Listens on a free port of the loopback interface. */
export function startRawServer(behaviour: RawBehaviour): Promise<RawServer> {
  const requestLines: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    behaviour.onConnection?.(socket)
    let received = ''
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
      for (let end = endOfRequest(received); end > 0; end = endOfRequest(received)) {
        requestLines.push(received.slice(0, received.indexOf(' HTTP/1.1')))
        received = received.slice(end)
        behaviour.onRequest?.(socket, requestLines.length - 1)
      }
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve({
        url: `http://127.0.0.1:${port}`,
        port,
        requestLines,
        stop: () =>
          new Promise(done => {
            server.close(() => done())
            for (const socket of sockets) socket.destroy()
          })
      })
    })
  })
}

/** The bytes of a whole HTTP answer with a length. */
export function httpAnswer(status: number, body: string, contentType = 'application/json'): string {
  const head = `HTTP/1.1 ${status} Answer\r\nContent-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}`
  return `${head}\r\n\r\n${body}`
}

/** Where the first request of the buffer ends; 0 while it is incomplete. */
function endOfRequest(received: string): number {
  const head = received.indexOf('\r\n\r\n')
  if (head < 0) return 0
  const length = Number(/content-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0)
  const end = head + 4 + length
  return received.length >= end ? end : 0
}
