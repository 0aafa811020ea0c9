/** The balancer in front of `api` or `tokens`: new connections go in turn to the instances whose /readyz says yes. */
import { delay } from '../../runtime/delay.js'
import type { Installation } from './installed-service.js'
import { Relay } from './relay.js'

const CHECK_EVERY_MS = 200

export interface Balancer {
  readonly url: string
  stop(): Promise<void>
}

export async function startBalancer(installation: Installation, processName: 'api' | 'tokens'): Promise<Balancer> {
  const stopping = new AbortController()
  let ready: readonly string[] = []
  let turn = 0
  const check = async (): Promise<void> => {
    const places = [...(await installation.opsUrls())].filter(([name]) => name.startsWith(`${processName}.`))
    const answers = await Promise.all(places.map(async ([name, url]) => ((await isReady(url)) ? [name] : [])))
    ready = answers.flat()
  }
  const checking = (async () => {
    for (; !stopping.signal.aborted; await delay(CHECK_EVERY_MS, stopping.signal)) await check()
  })()
  await check()
  const relay = await Relay.start(() => {
    const next = ready[turn++ % Math.max(1, ready.length)]
    return next === undefined ? undefined : installation.portOf(next)
  })
  return {
    url: `http://127.0.0.1:${relay.port}`,
    async stop() {
      stopping.abort()
      await checking
      await relay.close()
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false
  )
}
