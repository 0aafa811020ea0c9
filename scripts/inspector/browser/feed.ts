/** The payments as the server sends them: at first all, then each one that moves. */
import type { SeenPayment } from '../view-model.js'

const RECONNECT_MS = 1_000

/** Calls `onSeen` for every payment that begins or moves; connects again when the inspector was restarted. */
export function listen(onSeen: (seen: SeenPayment) => void, onConnection: () => void): void {
  const feed = new EventSource('/payments')
  feed.addEventListener('open', onConnection)
  feed.addEventListener('message', ({ data }) => onSeen(JSON.parse(String(data)) as SeenPayment))
  feed.addEventListener('error', () => {
    feed.close()
    onConnection()
    setTimeout(() => listen(onSeen, onConnection), RECONNECT_MS)
  })
}
