/**
 * The bridge to the hosted inspector, for developers who choose it: its page in a frame, fed from our WebSocket by the
 * handshake of `@statelyai/inspect/server`. The messages are redacted, but a script of another site receives them.
 */
const HOSTED_ORIGIN = 'https://stately.ai'

const frame = document.querySelector('iframe')?.contentWindow
const waiting: unknown[] = []
let isConnected = false

function pass(message: unknown): void {
  frame?.postMessage(message, HOSTED_ORIGIN)
}

window.addEventListener('message', event => {
  if (event.origin !== HOSTED_ORIGIN || event.data?.type !== '@statelyai.connected') return
  isConnected = true
  for (const message of waiting.splice(0)) pass(message)
})

new WebSocket(`ws://${location.host}/`).addEventListener('message', ({ data }) => {
  const message: unknown = JSON.parse(String(data))
  if (isConnected) pass(message)
  else waiting.push(message)
})

export {}
