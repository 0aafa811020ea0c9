/** The inspection protocol, as far as this page needs it: which payments there are, and where each one stands. */
import type { PaymentFacts } from '../view-model.js'

export interface Seen {
  readonly id: string
  readonly facts: PaymentFacts
}

interface Message {
  readonly type: string
  readonly sessionId: string
  readonly snapshot?: { readonly context: PaymentFacts }
}

const RECONNECT_MS = 1_000

/** Calls `onSeen` for every payment that begins or moves; connects again when the inspector was restarted. */
export function listen(onSeen: (seen: Seen) => void, onConnection: (isOpen: boolean) => void): void {
  const socket = new WebSocket(`ws://${location.host}/feed`)
  socket.addEventListener('open', () => onConnection(true))
  socket.addEventListener('close', () => {
    onConnection(false)
    setTimeout(() => listen(onSeen, onConnection), RECONNECT_MS)
  })
  socket.addEventListener('message', ({ data }) => {
    const { snapshot, sessionId } = JSON.parse(String(data)) as Message
    if (snapshot !== undefined) onSeen({ id: sessionId, facts: snapshot.context })
  })
}
