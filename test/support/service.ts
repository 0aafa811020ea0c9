/**
 * The real service for system tests: the processes of the Procfile, both Redis and the simulator, started by the code
 * of `npm start` with a data directory and ports of their own.
 *
 * Test files that ask for the same options one after the other share one running service, because starting it costs a
 * second or two: a test that kills a process waits for `untilReady` before it ends.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Demo, readDemo } from '../../scripts/start/demo.js'
import { ownService } from '../../scripts/start/own-service.js'
import type { RunningService, Service } from '../../scripts/start/service.js'
import type { SupervisedProcess } from '../../scripts/start/supervised-process.js'
import { afterLastTest } from './after-last-test.js'
import { restarted } from './processes.js'

export interface ServiceOptions {
  /** On top of the test's own settings, such as `{ NOT_FOUND_HORIZON_MS: '2000' }`. */
  readonly env?: Readonly<Record<string, string>>
  /** Such as `payments=2`. */
  readonly scale?: readonly string[]
  /** Text of a Procfile; the project's own when absent. */
  readonly procfile?: string
}

/** One running service. Addresses change with `restart`. */
export class ServiceUnderTest {
  readonly dataDir: string
  readonly #options: ServiceOptions
  #service: Service | undefined
  #running: RunningService | undefined
  #demo: Demo | undefined
  #log = ''

  constructor(dataDir: string, options: ServiceOptions) {
    this.dataDir = dataDir
    this.#options = options
  }

  get baseUrl(): string {
    return given(this.#demo?.base_url, 'api')
  }

  get tokensUrl(): string {
    return given(this.#demo?.tokens_url, 'tokens')
  }

  get networkUrl(): string {
    return given(this.#demo?.network_url, 'network')
  }

  get apiKey(): string {
    return given(this.#demo?.api_key, 'the demo merchant')
  }

  get publishableKey(): string {
    return given(this.#demo?.publishable_key, 'the demo merchant')
  }

  get merchantId(): string {
    return given(this.#demo?.merchant_id, 'the demo merchant')
  }

  get redisUrl(): string {
    return given(this.#running?.redis.redisUrl, 'redis')
  }

  get secretsRedisUrl(): string {
    return given(this.#running?.redis.secretsRedisUrl, 'secrets-redis')
  }

  /** Everything that all processes have printed so far, each line with its process in front. */
  logs(): string {
    return this.#log
  }

  /** The pids of `payments.1`, or of every instance of `payments`; `redis` and `secrets-redis` are names too. */
  pids(name: string): number[] {
    return this.#named(name).flatMap(process => process.pid ?? [])
  }

  /** Sends a signal to those processes; the supervisor starts anew what dies of it. Answers how many got it. */
  kill(name: string, signal: NodeJS.Signals = 'SIGKILL'): number {
    return this.#named(name).filter(process => process.signal(signal)).length
  }

  /** Resolves when every process is ready (again). */
  async untilReady(): Promise<void> {
    await this.#service?.untilReady()
  }

  async start(): Promise<void> {
    const { env = {}, scale = [], procfile } = this.#options
    const service = await ownService({
      root: process.cwd(),
      dataDir: this.dataDir,
      env,
      scale,
      write: text => {
        this.#log += text
      },
      ...(procfile === undefined ? {} : { procfile })
    })
    this.#service = service
    try {
      this.#running = await service.start()
    } catch (error) {
      throw new Error(`The service did not start.\n${this.#log.slice(-4_000)}`, { cause: error })
    }
    this.#demo = await readDemo(this.dataDir)
  }

  /** Addresses of every instance of a process that listens. */
  addresses(name: string): string[] {
    const ports = this.#running?.ports ?? new Map<string, { port: number }>()
    return [...ports]
      .filter(([instance]) => instance.startsWith(`${name}.`))
      .map(([, { port }]) => `http://127.0.0.1:${port}`)
  }

  /** Stops every process that works for merchants, one after the other; its supervisor starts it again. */
  async rollingRestart(): Promise<void> {
    const workers = this.#service?.processes.filter(
      ({ name }) => !/^(network|redis|secrets-redis|postgres)\b/.test(name)
    )
    for (const worker of workers ?? []) {
      await restarted(worker)
      await this.untilReady()
    }
  }

  /** What `payments.1` tells on its ops server: `/metrics`, `/readyz`. */
  async ops(instance: string, path: string): Promise<{ status: number; text: string }> {
    const places = JSON.parse(await readFile(join(this.dataDir, 'ops.json'), 'utf8')) as Record<string, string>
    const answer = await fetch(`${places[instance]}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  /** Stops everything in order and starts again on the same data, after `work` has changed it. */
  async restart(work: () => Promise<void> = async () => undefined): Promise<void> {
    await this.#service?.stop()
    await work()
    await this.start()
  }

  /** Stops everything and deletes the data. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#service?.stop()
    await rm(this.dataDir, { recursive: true, force: true })
  }

  #named(name: string): SupervisedProcess[] {
    const all = this.#service?.processes ?? []
    return all.filter(process => process.name === name || process.name.startsWith(`${name}.`))
  }
}

let shared: { key: string; service: ServiceUnderTest } | undefined

/** Starts a service for this caller alone, who stops it. */
export async function startService(options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  const service = new ServiceUnderTest(await mkdtemp(join(tmpdir(), 'payments-system-')), options)
  try {
    await service.start()
  } catch (error) {
    await service.stop()
    throw error
  }
  return service
}

/** Call it inside a `describe`: the service runs before its first test. Returns a way to get at it. */
export function useService(options: ServiceOptions = {}): () => ServiceUnderTest {
  const key = JSON.stringify(options)
  before(async () => {
    if (shared?.key !== key) {
      await stopSharedService()
      afterLastTest(stopSharedService)
      shared = { key, service: await startService(options) }
    }
    await shared.service.untilReady()
  })
  return () => {
    if (shared?.key !== key) throw new Error('useService: the service runs inside hooks and tests only')
    return shared.service
  }
}

async function stopSharedService(): Promise<void> {
  const running = shared
  shared = undefined
  await running?.service.stop()
}

function given(value: string | null | undefined, what: string): string {
  if (value === null || value === undefined) throw new Error(`${what} does not run in this service`)
  return value
}
