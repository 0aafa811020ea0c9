/**
 * Drops `100 Continue` answers that were not asked for (RFC 9110, 15.2: a client must be able to parse them). Some servers and
 * proxies send one before the real answer, and undici would end the exchange. Other 1xx answers do not trouble it.
 *
 * The bytes are filtered where undici reads them, between the last byte of a request and the head of its answer. A client of
 * `node:https` would parse them itself, at one and a half times the CPU time of a call.
 */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

const BEGINNING = 'HTTP/1.1 100 '
/** The place of the first digit of the status, and its byte for 1xx. */
const CLASS_AT = 'HTTP/1.1 '.length
const ONE = '1'.charCodeAt(0)
/** More, or a longer head, are left to undici, which ends the exchange. */
const DROPPED_MAX = 16
const HEAD_BYTES_MAX = 4_096

/** A connector whose connections have one request at a time. */
export function droppingContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[0] === null) filter(result[1])
      callback(...result)
    })
}

function filter(socket: Socket): void {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket)
  let held: Buffer | null = null
  let isAtHead = false
  let dropped = 0
  socket.write = ((...args: Parameters<Socket['write']>) => {
    isAtHead = true
    dropped = 0
    return write(...args)
  }) as Socket['write']
  socket.read = size => {
    const chunk: Buffer | null = read(size)
    if (!isAtHead || chunk === null) return chunk
    let bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk])
    held = null
    while (bytes.length > 0 && dropped < DROPPED_MAX && mayBeContinue(bytes)) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end === -1 && bytes.length < HEAD_BYTES_MAX) {
        held = bytes
        return null
      }
      if (end === -1) break
      dropped++
      bytes = bytes.subarray(end + 4)
    }
    if (bytes.length === 0) return null
    isAtHead = false
    return bytes
  }
}

function mayBeContinue(bytes: Buffer): boolean {
  // Of nearly all answers this digit is another one, and nothing is copied.
  if (bytes.length > CLASS_AT && bytes[CLASS_AT] !== ONE) return false
  const text = bytes.toString('latin1', 0, BEGINNING.length)
  return BEGINNING.startsWith(text)
}
