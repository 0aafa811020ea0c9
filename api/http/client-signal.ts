/** Whether the client of a request is still there: the answer of a long read is of no use once it has gone. */
import type { Socket } from 'node:net'
import type { RequestContext } from './context.js'

/** Why a request that only reads was given up. */
export class ClientGone extends Error {}

/** A connection may have several requests: they have one signal. */
const signals = new WeakMap<Socket, AbortSignal>()

/**
 * Aborts with `ClientGone` when the client closes its connection, or its side of it. Not for work that changes something: what
 * was begun is completed.
 */
export function clientSignal({ req: { socket } }: Pick<RequestContext, 'req'>): AbortSignal {
  const known = signals.get(socket)
  if (known !== undefined) return known
  const controller = new AbortController()
  const abort = (): void => controller.abort(new ClientGone('The client has gone.'))
  if (socket.destroyed || socket.readableEnded) abort()
  else socket.once('end', abort).once('close', abort)
  signals.set(socket, controller.signal)
  return controller.signal
}
