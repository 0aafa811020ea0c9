/** Where the tools listen that run beside `npm start`, and how. */
import type { AddressInfo, Server } from 'node:net'

/** Far from its own ports, which are 3000 to 3003 and 10 more for each instance. */
export const toolPorts = {
  shop: 4000,
  inspector: 4010,
  webhooksListen: 4011,
  shopWebhooks: 4012
} as const

/**
 * Listens on this machine only. Resolves to the port (0 takes a free one); rejects with a sentence that names the option
 * to change, such as `--port`.
 */
export async function listenHere(server: Server, port: number, option: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return reject(error)
      const why = error.code === 'EADDRINUSE' ? 'is taken' : 'needs more rights'
      reject(new Error(`Port ${port} ${why}. Choose another: ${option}=N, or ${option}=0 for any that is free.`))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
