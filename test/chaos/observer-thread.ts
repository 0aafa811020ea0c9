/**
 * Watches whether a service answers: every process says on its ops port that it is ready, and every instance that serves merchants
 * answers a request that needs its Redis. It has a thread of its own: the clients keep the main thread busy, which would tell of
 * that and not of the service.
 */
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { delay } from '../../runtime/delay.js'
import { isRecord } from '../../runtime/json.js'
import { OPS_FILE, readJson } from '../../scripts/start/data-dir.js'
import { demoCard } from '../../scripts/start/demo-customer.js'
import { unreadyReason } from '../../scripts/start/readiness.js'
import type { Target } from './client.js'

export interface ObserverThread {
  /** How long it took from now until all have answered (ms); null: some did not within a minute. */
  backMs(): Promise<number | null>
  stop(): Promise<void>
}

interface Watched extends Target {
  readonly dataDir: string
}

const WITHIN_MS = 60_000
const TRY_MS = 2_000
const GAP_MS = 50
const NO_PAYMENT = '00000000-0000-7000-8000-000000000000'

export async function startObserverThread(watched: Watched): Promise<ObserverThread> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { observerOf: watched } })
  await once(thread, 'message')
  return {
    async backMs() {
      thread.postMessage('measure')
      const [ms] = await once(thread, 'message')
      return ms === null ? null : Number(ms)
    },
    stop: async () => void (await thread.terminate())
  }
}

/** Each is asked again until it says yes, at the same time as the others. */
async function untilAllAnswer({ dataDir, apiUrls, tokensUrls, apiKey, publishableKey }: Watched): Promise<boolean> {
  const signal = AbortSignal.timeout(WITHIN_MS)
  const until = async (isAnswered: () => Promise<boolean>): Promise<void> => {
    while (!signal.aborted && !(await isAnswered())) await delay(GAP_MS)
  }
  // Asked each time: a process that was started again has another port.
  const opsUrls = async (): Promise<Readonly<Record<string, unknown>>> => (await readJson(dataDir, OPS_FILE)) ?? {}
  const isReady = async (name: string): Promise<boolean> =>
    (await unreadyReason(String((await opsUrls())[name]))) === undefined
  await Promise.all([
    ...Object.keys(await opsUrls()).map(name => until(() => isReady(name))),
    ...apiUrls.map(url => until(() => isServed(`${url}/v1/payments/${NO_PAYMENT}`, apiKey))),
    ...tokensUrls.map(url => until(() => isServed(`${url}/v1/tokens`, publishableKey, demoCard)))
  ])
  return !signal.aborted
}

async function isServed(url: string, key: string, body?: object): Promise<boolean> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TRY_MS)
  }).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
  return response !== undefined && response.status < 500
}

if (parentPort !== null && isRecord(workerData) && 'observerOf' in workerData) {
  const port = parentPort
  const watched = workerData['observerOf'] as Watched
  port.on('message', () => {
    const sinceMs = performance.now()
    void untilAllAnswer(watched).then(isBack =>
      port.postMessage(isBack ? Math.round(performance.now() - sinceMs) : null)
    )
  })
  port.postMessage('ready')
}
