/** One durable Redis of a Cluster or of a group with Sentinels. No supervisor restarts it. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { createLogger } from '../../runtime/log.js'
import { freePort } from '../../scripts/start/ports.js'
import type { RedisBinary } from '../../scripts/start/redis-binary.js'
import { spawnRedis } from './redis-servers.js'

/** The settings of every durable node (docs/REDIS.md, Settings). */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction', '--save', '']

interface Running {
  readonly child: ChildProcess
  readonly pid: number
  readonly admin: Redis
}

export class RedisNode {
  readonly port: number
  /** The port for TLS, when the settings name its files. */
  readonly tlsPort: number
  readonly busPort: number
  readonly #start: (more?: readonly string[]) => Promise<Running>
  #running: Running

  private constructor(
    ports: { port: number; tlsPort: number; busPort: number },
    start: (more?: readonly string[]) => Promise<Running>,
    running: Running
  ) {
    this.port = ports.port
    this.tlsPort = ports.tlsPort
    this.busPort = ports.busPort
    this.#start = start
    this.#running = running
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Starts a server in `dir` with more settings, such as `--replicaof`. Resolves when it answers. */
  static async start(binary: RedisBinary, dir: string, settings: readonly string[]): Promise<RedisNode> {
    const ports = { port: await freePort(), tlsPort: await freePort(), busPort: await freePort() }
    await mkdir(dir, { recursive: true })
    const isCluster = settings.includes('--cluster-enabled')
    const bus = isCluster ? ['--cluster-port', String(ports.busPort)] : []
    const tls = settings.includes('--tls-cert-file') ? ['--tls-port', String(ports.tlsPort)] : []
    const own = [
      '--port',
      String(ports.port),
      ...tls,
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--set-proc-title',
      'no',
      ...bus
    ]
    const start = async (more: readonly string[] = []): Promise<Running> => {
      const child = spawnRedis(binary, [...own, ...DURABLE, '--repl-diskless-sync-delay', '0', ...settings, ...more])
      const admin = await connect(
        `redis://127.0.0.1:${ports.port}`,
        'commands',
        createLogger('cluster', 'silent')
      ).catch((error: unknown) => {
        child.kill('SIGKILL')
        throw error
      })
      const pid = Number(/^process_id:(\d+)/m.exec(await admin.info('server'))?.[1])
      return { child, pid, admin }
    }
    return new RedisNode(ports, start, await start())
  }

  /** Starts the server again on its files, after `kill`. `more` settings apply until the next restart. */
  async restart(more: readonly string[] = []): Promise<void> {
    this.#running = await this.#start(more)
  }

  /** One command of an administrator. */
  async ask(...args: string[]): Promise<unknown> {
    const [command = '', ...rest] = args
    return await this.#running.admin.call(command, ...rest)
  }

  /** A figure of INFO. */
  async figure(section: string, name: string): Promise<string | undefined> {
    return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(await this.#running.admin.info(section))?.[1]
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.#running.pid, signal)
  }

  /** As by a power cut. */
  async kill(): Promise<void> {
    const { admin, child } = this.#running
    admin.disconnect()
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    this.signal('SIGKILL')
    await ended
  }

  async stop(): Promise<void> {
    await disconnect(this.#running.admin)
    await this.kill()
  }
}
