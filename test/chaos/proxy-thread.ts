/** A blackhole proxy in a thread of its own: clients keep the main thread busy, and would delay what the proxy carries. */
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { isRecord } from '../../runtime/json.js'
import { type BlackholeProxy, startBlackholeProxy } from './blackhole-proxy.js'

export type ProxyThread = Pick<BlackholeProxy, 'url' | 'blackhole' | 'restore' | 'stop'>

/** As `startBlackholeProxy`. */
export async function startProxyThread(targetUrl: string): Promise<ProxyThread> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { blackholeProxyOf: targetUrl } })
  const [url] = await once(thread, 'message')
  return {
    url: String(url),
    blackhole: () => thread.postMessage('blackhole'),
    restore: () => thread.postMessage('restore'),
    stop: async () => void (await thread.terminate())
  }
}

if (parentPort !== null && isRecord(workerData) && typeof workerData['blackholeProxyOf'] === 'string') {
  const proxy = await startBlackholeProxy(workerData['blackholeProxyOf'])
  parentPort.on('message', what => (what === 'blackhole' ? proxy.blackhole() : proxy.restore()))
  parentPort.postMessage(proxy.url)
}
