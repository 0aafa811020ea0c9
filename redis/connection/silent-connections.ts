/**
 * Finds connections whose server vanished without closing them, and cuts them.
 *
 * A host that vanishes sends neither FIN nor RST. The kernel would keep such a connection for about 15 minutes, while
 * commands time out one by one and a blocking read waits for ever.
 */
import type { Redis as Single } from 'ioredis'

const LOOK_INTERVAL_MS = 1_000
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
  let silentLooks = 0
  const look = (): void => {
    silentLooks = stream.bytesRead === bytesRead ? silentLooks + 1 : 0
    bytesRead = stream.bytesRead
    if (silentLooks >= LOOKS_BEFORE_CUT) {
      clearInterval(timer)
      redis.emit('error', new Error(`Redis sent nothing for ${LOOKS_BEFORE_CUT} s; the connection was cut.`))
      cut(stream)
    } else if (silentLooks === LOOKS_BEFORE_PING && redis.status === 'ready') redis.ping().catch(() => undefined)
  }
  const timer = setInterval(look, LOOK_INTERVAL_MS).unref()
  stream.once('close', () => clearInterval(timer))
}

/**
 * Cuts with RST where it can, which TLS can't: after a FIN the kernel would continue to send what the server has not
 * acknowledged, and a write could arrive long after its caller got the error.
 */
function cut(stream: Single['stream']): void {
  if (!('encrypted' in stream)) stream.resetAndDestroy()
  // The reset waits for bytes that the kernel has not taken.
  setImmediate(() => stream.destroy())
}
