/**
 * The whole service on one machine: its databases, every process of the Procfile, the simulator.
 *
 * `npm start` adds signals and a banner. The system tests run the same code with their own data directory and ports.
 */
import { type Config, readConfig } from '../../runtime/config.js'
import { drainMsOf, EXIT_CONFIG } from '../../runtime/shutdown.js'
import { lockDataDir, OPS_FILE, writeJson } from './data-dir.js'
import { type DatabaseUrls, startDatabases, vendorDir } from './databases.js'
import { environmentOf, type ServiceUrls, type Surroundings, serviceUrls } from './environment.js'
import { type OutputOptions, prefixedOutput } from './output.js'
import { freePort, type PortPlan, planPorts } from './ports.js'
import type { Ending, UnixUser } from './process-group.js'
import { type PlannedInstance, parseProcfile, planInstances } from './procfile.js'
import { waitUntilReady } from './readiness.js'
import { SupervisedProcess } from './supervised-process.js'
import { Supervisor } from './supervisor.js'

/** Creates what the processes need before they start, once Redis answers. Addresses of Redis replace the real ones. */
export type Preparation = (place: {
  readonly dataDir: string
  readonly redis: DatabaseUrls
  readonly urls: ServiceUrls
}) => Promise<Pick<Surroundings, 'vault' | 'webhooks'> & Partial<DatabaseUrls>>

export interface ServiceOptions {
  /** The checkout: commands of the Procfile run here. */
  readonly root: string
  /** Text of the Procfile. */
  readonly procfile: string
  /** Arguments such as `payments=4`. */
  readonly scale: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly output: OutputOptions
  readonly write: (text: string) => void
  readonly prepare: Preparation
  /** The environment of an instance, instead of that of `npm start`. */
  readonly environment?: typeof environmentOf
  /** The user that a process runs as; absent: the user of this process. */
  readonly userOf?: (processName: string) => UnixUser | undefined
}

export interface RunningService {
  readonly dataDir: string
  readonly urls: ServiceUrls
  readonly ports: PortPlan
  readonly redis: DatabaseUrls
}

/** After so many deaths before the service was ready, a restart does not help. */
const DEATHS_BEFORE_READY_MAX = 3

/** One start of the service. `start` once; `stop` at any time, also during `start`. */
export class Service {
  readonly #options: ServiceOptions
  readonly #supervisor = new Supervisor()
  readonly #opsPorts = new Map<string, number>()
  readonly #deaths = new Map<string, number>()
  #fault: string | undefined
  #isReady = false
  #releaseLock: () => Promise<void> = async () => undefined
  #sinkOf = prefixedOutput([], { isColoured: false }, () => undefined)

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  /** All processes by name (`api.1`, `redis`); pids change with restarts. */
  get processes(): readonly SupervisedProcess[] {
    return this.#supervisor.processes
  }

  /** Resolves when every process is ready. Otherwise stops everything and rejects. */
  async start(): Promise<RunningService> {
    try {
      return await this.#start()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Stops everything within 15 s and DRAIN_DELAY_MS. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#supervisor.stop()
    await this.#releaseLock()
  }

  /** Kills everything at once. */
  killAll(): void {
    this.#supervisor.killAll()
  }

  /** Resolves when every process of the Procfile can work: at the start, and again after some of them died. */
  async untilReady(): Promise<void> {
    await waitUntilReady(
      [...this.#opsPorts.keys()],
      name => this.#opsPorts.get(name),
      () => (this.#supervisor.isStopping ? 'The start was interrupted.' : this.#fault)
    )
  }

  async #start(): Promise<RunningService> {
    const { env, root, procfile, scale, write, output, prepare } = this.#options
    const config = readConfig(env)
    const instances = planInstances(entriesFor(procfile, config), scale)
    const names = instances.map(instanceName)
    this.#sinkOf = prefixedOutput([...names, 'redis', 'secrets-redis', 'postgres', 'start'], output, write)

    const lock = await lockDataDir(config.dataDir)
    this.#releaseLock = lock.release
    const dataDir = lock.dir
    const ports = await planPorts(instances, config)
    const redis = await startDatabases({
      given: env,
      config,
      dataDir,
      isArchiveAsked: instances.some(({ name }) => name === 'archive'),
      reservedPorts: new Set([...ports.values()].map(({ port }) => port)),
      vendorDir: vendorDir(root),
      supervisor: this.#supervisor,
      sinkOf: this.#sinkOf,
      onEnd: (name, ending, pauseMs) => this.#noteEnding(name, ending, pauseMs)
    })
    const urls = serviceUrls(ports)
    const prepared = await prepare({ dataDir, redis, urls })
    const around: Surroundings = { given: env, ports, dataDir, ...redis, ...prepared }
    for (const instance of instances) await this.#run(instance, around, drainMsOf(instance.name, config))
    await this.untilReady()
    this.#isReady = true
    return { dataDir, urls, ports, redis }
  }

  async #run(instance: PlannedInstance, around: Surroundings, drainMs: number): Promise<void> {
    const name = instanceName(instance)
    const process = new SupervisedProcess({
      name,
      script: instance.command,
      cwd: this.#options.root,
      user: this.#options.userOf?.(instance.name),
      environment: async () => {
        const opsPort = await freePort()
        this.#opsPorts.set(name, opsPort)
        await this.#listOpsPorts(around.dataDir)
        return (this.#options.environment ?? environmentOf)(instance, around, opsPort)
      },
      onOutput: this.#sinkOf(name),
      onEnd: (ending, pauseMs) => this.#noteEnding(name, ending, pauseMs)
    })
    await process.start()
    await this.#supervisor.add(instance.name === 'network' ? 'network' : 'work', process, drainMs)
  }

  async #listOpsPorts(dataDir: string): Promise<void> {
    const places = [...this.#opsPorts].map(([name, port]) => [name, `http://127.0.0.1:${port}`])
    await writeJson(dataDir, OPS_FILE, Object.fromEntries(places))
  }

  #noteEnding(name: string, { code, signal }: Ending, pauseMs: number): void {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    this.#sinkOf('start')(`${name} ended ${how}; it is started again in ${pauseMs} ms\n`)
    if (this.#isReady) return
    const deaths = (this.#deaths.get(name) ?? 0) + 1
    this.#deaths.set(name, deaths)
    if (code === EXIT_CONFIG || deaths >= DEATHS_BEFORE_READY_MAX) {
      this.#fault = `${name} ended ${how} before it was ready${deaths > 1 ? ` (${deaths} times)` : ''}. Its last lines are above.`
    }
  }
}

/** `payments.1` */
function instanceName({ name, instance }: PlannedInstance): string {
  return `${name}.${instance}`
}

/** In the live environment the card network is a real one. */
function entriesFor(procfile: string, config: Config): ReturnType<typeof parseProcfile> {
  return parseProcfile(procfile).filter(entry => config.environment === 'test' || entry.name !== 'network')
}
