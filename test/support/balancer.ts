/** A load balancer as operators run it: it reads /readyz of each `api` at intervals, and repeats no request. */
import { delay } from '../../runtime/delay.js'
import type { ServiceUnderTest } from './service.js'

export class Balancer {
  readonly #service: ServiceUnderTest
  readonly #addresses: readonly string[]
  readonly #stopping = new AbortController()
  #ready: readonly string[] = []
  #turn = 0

  /** Reads /readyz of each instance every `intervalMs`; one "no" takes it out, one "yes" takes it in. */
  constructor(service: ServiceUnderTest, intervalMs: number) {
    this.#service = service
    this.#addresses = service.addresses('api')
    void this.#watch(intervalMs)
  }

  /** To how many instances it sends requests. */
  get size(): number {
    return this.#ready.length
  }

  /** Sends one request to the next instance. Answers its status; 0 when the connection failed. */
  async send(path: string, init: RequestInit): Promise<number> {
    const address = this.#ready[this.#turn++ % this.#ready.length]
    try {
      const answer = await fetch(`${address}${path}`, init)
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return 0
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #watch(intervalMs: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const ready = await Promise.all(
        this.#addresses.map(async (address, index) => {
          const answer = await this.#service.ops(`api.${index + 1}`, '/readyz').catch(() => undefined)
          return answer?.status === 200 ? [address] : []
        })
      )
      this.#ready = ready.flat()
      await delay(intervalMs, this.#stopping.signal)
    }
  }
}
