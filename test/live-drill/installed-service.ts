/** A live installation on this machine, made as docs/ says: its servers, its processes, and its operator. */
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import { OPS_FILE, readJson } from '../../scripts/start/data-dir.js'
import { bareEnvironment } from '../../scripts/start/environment.js'
import { portVariables } from '../../scripts/start/ports.js'
import { type RunningService, Service } from '../../scripts/start/service.js'
import { type ServerOptions, type Servers, startServers } from './servers.js'

export interface Installation extends Servers {
  readonly root: string
  readonly dir: string
  readonly procfile: string
  /** All that the processes have printed. */
  log(): string
  service(): Service
  /** The port of an instance such as `api.2`; undefined while it does not run. */
  portOf(instance: string): number | undefined
  /** Starts the processes, two of those that carry the load; `scale` as for `npm start`. */
  startProcesses(...scale: string[]): Promise<void>
  /** The folder of the release that processes run from which start now. */
  release(): string
  /** Links another one in its place. */
  linkRelease(folder: string): Promise<void>
  /** Where each instance serves /readyz, by its name. */
  opsUrls(): Promise<ReadonlyMap<string, string>>
  /** A folder with the addresses of a user of both Redis, as redis-setup.sh makes it. */
  loginsOf(user: string): Promise<string>
  /** Runs the operator's command line, such as `merchant list`. Rejects with its complaint. */
  operator(line: string, environment?: NodeJS.ProcessEnv): Promise<Readonly<Record<string, unknown>>>
}

const SCALE = ['api=2', 'tokens=2', 'payments=2']

/** Links the release `root` as `current`, and starts the servers; the processes do not run yet. */
export async function install({ output, ...given }: ServerOptions): Promise<Installation> {
  const { dir } = given
  const options = { ...given, root: join(dir, 'current') }
  const { root } = options
  let release = ''
  const linkRelease = async (folder: string): Promise<void> => {
    await symlink(folder, `${root}.new`)
    await rename(`${root}.new`, root)
    release = folder
  }
  await linkRelease(given.root)
  let printed = ''
  const print = (text: string): void => {
    printed += text
    output(text)
  }
  const servers = await startServers({ ...options, output: print })
  const { settings } = servers
  const procfile = await readFile(join(root, 'Procfile'), 'utf8')
  const plan = (...scale: string[]): Service => planService(servers, { root, dir, procfile, scale, print })
  let service = plan()
  let running: RunningService | undefined
  return {
    ...servers,
    ...{ root, dir, procfile },
    log: () => printed,
    service: () => service,
    release: () => release,
    linkRelease,
    portOf: instance => running?.ports.get(instance)?.port,
    async startProcesses(...scale) {
      service = plan(...scale)
      running = await service.start()
    },
    async opsUrls() {
      return new Map(Object.entries((await readJson(dir, OPS_FILE)) ?? {}).map(([name, url]) => [name, String(url)]))
    },
    async loginsOf(user) {
      const folder = join(dir, 'logins', user)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, 'redis_url'), servers.durable.url(user), { mode: 0o600 })
      await writeFile(join(folder, 'secrets_redis_url'), servers.memoryOnly.url(user), { mode: 0o600 })
      return folder
    },
    async operator(line, environment = {}) {
      const command = [join(root, 'dist/scripts/operator/operator.js'), ...line.split(' '), '--json']
      return JSON.parse(await runToEnd(process.execPath, command, { ...settings.ofOperator(), ...environment }, root))
    },
    async stop() {
      await service.stop()
      await servers.stop()
    },
    killNow() {
      service.killAll()
      servers.killNow()
    }
  }
}

interface Plan {
  readonly root: string
  readonly dir: string
  readonly procfile: string
  readonly scale: readonly string[]
  readonly print: (text: string) => void
}

/** The processes, each with its own environment and user. */
function planService(
  { settings, users, durable, memoryOnly, notificationsPort }: Servers,
  { root, dir, procfile, scale, print }: Plan
): Service {
  return new Service({
    root,
    procfile,
    scale: [...SCALE, ...scale],
    // What the supervisor itself reads. Without the addresses it would start a Redis.
    env: {
      ...settings.of('payments'),
      ...settings.of('notifications'),
      ...settings.of('api'),
      REDIS_URL: durable.url('operator'),
      SECRETS_REDIS_URL: memoryOnly.url('payments'),
      DATA_DIR: dir,
      PORT: '0',
      TOKENS_PORT: '0',
      NOTIFICATIONS_PORT: String(notificationsPort)
    },
    output: { isColoured: false },
    write: print,
    prepare: async () => ({ vault: undefined, webhooks: undefined }),
    environment: ({ name, instance }, { ports }, opsPort) => {
      const port = ports.get(`${name}.${instance}`)?.port
      const own = port === undefined ? {} : { [portVariables[name] ?? '']: String(port) }
      return { ...bareEnvironment(opsPort), ...own, ...settings.of(name) }
    },
    userOf: users.of
  })
}
