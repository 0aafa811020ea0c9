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
    const rest = withoutContinues(held === null ? chunk : Buffer.concat([held, chunk]), DROPPED_MAX - dropped)
    dropped += rest.dropped
    isAtHead = rest.isIncomplete
    held = isAtHead ? rest.bytes : null
    return isAtHead ? null : rest.bytes
  }
}

/** `isIncomplete`: the head of the answer, or of one more to drop, is still to come. */
function withoutContinues(
  read: Buffer,
  droppedMax: number
): { readonly bytes: Buffer; readonly dropped: number; readonly isIncomplete: boolean } {
  let bytes = read
  let dropped = 0
  for (; bytes.length > 0 && dropped < droppedMax && mayBeContinue(bytes); dropped++) {
    const end = bytes.indexOf('\r\n\r\n')
    if (end === -1) return { bytes, dropped, isIncomplete: bytes.length < HEAD_BYTES_MAX }
    bytes = bytes.subarray(end + 4)
  }
  return { bytes, dropped, isIncomplete: bytes.length === 0 }
}

function mayBeContinue(bytes: Buffer): boolean {
  // Of nearly all answers this digit is another one, and nothing is copied.
  if (bytes.length > CLASS_AT && bytes[CLASS_AT] !== ONE) return false
  const text = bytes.toString('latin1', 0, BEGINNING.length)
  return BEGINNING.startsWith(text)
}
