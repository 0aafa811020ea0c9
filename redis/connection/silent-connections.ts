/**
 * Finds connections whose server vanished without closing them, and cuts them.
 *
 * A host that vanishes sends neither FIN nor RST. The kernel would keep such a connection for about 15 minutes, while
 * commands time out one by one and a blocking read waits for ever.
 *
 * The client closes a stream, too: `connectTimeout` destroys one that does not open, and a refused or unanswered handshake
 * ends one and destroys it 2 s later. So a stream may be in each of these states when it is cut, and each must lead to
 * 'close', because the client reconnects at that event alone:
 *
 * | the stream is             | status of the client            | what cuts it                  |
 * | ------------------------- | ------------------------------- | ----------------------------- |
 * | opening (TCP, TLS)        | connecting                      | `connectTimeout`; no watch    |
 * | open                      | connect (handshake), ready      | this watch, with RST          |
 * | ended, not yet closed     | connect, ready                  | this watch or the client      |
 * | destroyed                 | close, reconnecting, end        | nothing is left to cut        |
 */
import type { Redis as Single } from 'ioredis'
import { eachSecond } from '../../runtime/each-second.js'

/** Looks without a byte from the server before it is asked for one. */
const LOOKS_BEFORE_PING = 2
/**
 * Looks without a byte before the connection is cut: about `COMMAND_TIMEOUT_MS`, and far above the longest blocking
 * read. Counted, not measured: a process that was stopped for a minute must first read what has arrived meanwhile.
 */
const LOOKS_BEFORE_CUT = 5

/** Watches every connection that this client makes from now on, at its next `connect`. */
export function cutWhenSilent(redis: Single): Single {
  redis.on('connect', () => watch(redis))
  return redis
}

function watch(redis: Single): void {
  const { stream } = redis
  let bytesRead = 0
  // The first look may come at once.
  let silentLooks = -1
  const look = (): void => {
    silentLooks = stream.bytesRead === bytesRead ? silentLooks + 1 : 0
    bytesRead = stream.bytesRead
    if (silentLooks >= LOOKS_BEFORE_CUT) {
      endLooks()
      redis.emit('error', new Error(`Redis sent nothing for ${LOOKS_BEFORE_CUT} s; the connection was cut`))
      cut(stream)
    } else if (silentLooks === LOOKS_BEFORE_PING && redis.status === 'ready') redis.ping().catch(() => undefined)
  }
  const endLooks = eachSecond(look)
  stream.once('close', endLooks)
}

/**
 * Cuts with RST where it can: after a FIN the kernel would continue to send what the server has not acknowledged, and a
 * write could arrive long after its caller got the error. TLS can't. A stream that was ended can't either: a reset during
 * its shutdown fails (EINVAL), closes nothing, and 'close' never comes.
 */
function cut(stream: Single['stream']): void {
  if ('encrypted' in stream || stream.writableEnded) stream.destroy()
  else stream.resetAndDestroy()
}
