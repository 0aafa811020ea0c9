/** Whether a try sent anything. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

export interface Sending {
  /** True only with proof. False: bytes were sent, or may have been. */
  isProvedUnsent(): boolean
  stop(): void
}

const CREATED = 'undici:request:create'
/** Published before the head and after the body of a request. */
const SENT = ['undici:client:sendHeaders', 'undici:request:bodySent']

/**
 * Watches the requests that carry `key`, through the diagnostics of the HTTP client behind Node's `fetch`. Proof needs both:
 * such a request was made, so that the diagnostics work, and no part of one was sent. Another `fetch` publishes nothing,
 * and proves nothing.
 */
export function watchSending(key: string): Sending {
  let isCreated = false
  let isSent = false
  const onCreated = (message: unknown): void => {
    isCreated ||= hasKey(message, key)
  }
  const onSent = (message: unknown): void => {
    isSent ||= hasKey(message, key)
  }
  subscribe(CREATED, onCreated)
  for (const channel of SENT) subscribe(channel, onSent)
  return {
    isProvedUnsent: () => isCreated && !isSent,
    stop: () => {
      unsubscribe(CREATED, onCreated)
      for (const channel of SENT) unsubscribe(channel, onSent)
    }
  }
}

/** The headers are a list of names and values, or text, by version. */
function hasKey(message: unknown, key: string): boolean {
  const { headers } = (message as { request: { headers: unknown } }).request
  return String(headers).includes(key)
}
