/**
 * What a server says to a client that it closes at once, such as "max number of clients reached". A client that has sent its
 * login by then loses these words with the reset of the connection; one that sends nothing reads them.
 */
import { connect } from 'node:net'
import type { RedisAddress } from '../../runtime/redis-address.js'

const LISTEN_MS = 500
const ASK_AGAIN_MS = 1_000

/** Returns a function to call when a connection is lost: it tells `onRefusal` what the server says to a new client, if it says so. */
export function askWhyClosed(address: RedisAddress, onRefusal: (error: Error) => void): () => void {
  if (address.kind !== 'single' || address.isTls) return () => undefined
  const { hostname, port } = new URL(address.url)
  let askedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - askedAtMs < ASK_AGAIN_MS) return
    askedAtMs = performance.now()
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) })
    socket.setTimeout(LISTEN_MS, () => socket.destroy())
    socket.once('data', data => {
      const [, sentence] = /^-(.*)/.exec(data.toString('latin1')) ?? []
      if (sentence !== undefined) onRefusal(new Error(sentence))
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.unref()
  }
}
