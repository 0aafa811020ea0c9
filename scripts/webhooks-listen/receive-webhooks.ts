/** Registers the listener as the merchant's endpoint, and says when another one takes its place. */
import { ApiError, PaymentsClient } from '../../client/index.js'
import { delay } from '../../runtime/delay.js'
import { readLoopbackTls } from '../start/loopback-tls.js'
import { type ListenerOptions, startListener } from './listener.js'

export interface ReceiveOptions extends Omit<ListenerOptions, 'tls'> {
  readonly dataDir: string
  readonly merchant: { readonly baseUrl: string; readonly apiKey: string }
  /** How often the registered endpoint is checked (ms). */
  readonly lookEveryMs?: number
}

const LOOK_EVERY_MS = 5_000

/**
 * Registers a listener as the merchant's endpoint, in place of any other. Rejects when the port is taken, or
 * the service does not register it.
 */
export async function receiveWebhooks({
  dataDir,
  merchant,
  lookEveryMs = LOOK_EVERY_MS,
  ...options
}: ReceiveOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const listener = await startListener({ ...options, tls: await readLoopbackTls(dataDir) })
  const { url } = listener
  const client = new PaymentsClient(merchant)
  const register = async (): Promise<void> => {
    const { secret } = await client.webhookEndpoint.register({ url })
    listener.expect(secret)
    options.write(`Signing secret: ${secret}`)
  }
  await register().catch(async (error: unknown) => {
    await listener.stop()
    throw error
  })

  const stopping = new AbortController()
  let known: string | null = null
  const look = async (): Promise<void> => {
    const reason = await whyNotTo(url, client, stopping.signal)
    if (reason === known) return
    if (reason === null) await register()
    known = reason
    options.write(
      reason === null
        ? 'Events come here again.'
        : `No more events come here: ${reason} To take them back, end this with Ctrl-C and start it again.`
    )
  }
  void repeat(look, lookEveryMs, stopping.signal)
  return {
    url,
    stop: () => {
      stopping.abort()
      return listener.stop()
    }
  }
}

/** Why the merchant's events do not go to `url`; null: they do. Rejects while the service does not answer. */
async function whyNotTo(url: string, client: PaymentsClient, signal: AbortSignal): Promise<string | null> {
  try {
    const registered = await client.webhookEndpoint.get({ maxRetries: 0, signal })
    return registered.url === url ? null : `another request registered ${registered.url} in its place.`
  } catch (error) {
    // Such as after a start with new data: there the merchant has another key.
    if (error instanceof ApiError && !error.retryable) return error.message
    throw error
  }
}

/** Runs `look` until `signal`. Ignores failures: the service may restart, and the next run reports. */
async function repeat(look: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  await delay(everyMs, signal)
  while (!signal.aborted) {
    await look().catch(() => undefined)
    await delay(everyMs, signal)
  }
}
