/** Ports of the tools that run beside `npm start`. */
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Above those of `npm start`: 3000 to 3003, and 10 more for each instance. */
export const toolPorts = {
  shop: 4000,
  inspector: 4010,
  webhooksListen: 4011
} as const

/** Whether a Host header names this machine: a page of another site reaches a tool under a name of its own. */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host ?? '')
}

/** Ends a server with all its connections. */
export function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections()
  return new Promise(resolve => server.close(() => resolve()))
}

/**
 * Listens on the loopback address. Resolves to the port (0 takes a free one). Rejects with a sentence that names the
 * option to change, such as `--port`.
 */
export async function listenHere(server: Server, port: number, option: string): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    const why = error.code === 'EADDRINUSE' ? 'is taken' : 'needs more rights'
    throw new Error(`Port ${port} ${why}. Choose another: ${option}=N, or ${option}=0 for any that is free.`)
  })
  return (server.address() as AddressInfo).port
}
