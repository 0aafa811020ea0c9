/** A Redis of the drill: the configuration and the ACL file of ops/redis, with paths and a port of its own. */
import { createHash, randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { delay } from '../../runtime/delay.js'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, runToEnd } from '../../scripts/start/apt-packages.js'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'
import type { Ending, ProcessGroup } from '../../scripts/start/process-group.js'
import type { RedisBinary } from '../../scripts/start/redis-binary.js'
import { startRedisGroup } from '../support/redis-servers.js'
import type { UnixUsers } from './unix-users.js'

export interface ShippedRedisOptions {
  readonly kind: 'durable' | 'memory-only'
  readonly binary: RedisBinary
  /** The folder with `<kind>.conf`, and with `<kind>.acl`, which has `${NAME_SHA256}` for each password. */
  readonly filesDir: string
  /** Parent of this server's folder. */
  readonly dir: string
  readonly tls: TlsMaterial
  readonly users: UnixUsers
  readonly onOutput: (text: string) => void
}

export interface Login {
  readonly user: string
  readonly password: string
}

const LOADING_MAX_MS = 60_000
const STOPPING_MAX_MS = 20_000
const POLL_MS = 20
const PASSWORD_BYTES = 24

export class ShippedRedis {
  readonly #options: ShippedRedisOptions
  readonly #cli: string
  readonly port: number
  /** By user. */
  #passwords: ReadonlyMap<string, string> = new Map()
  #group: ProcessGroup | undefined

  private constructor(options: ShippedRedisOptions, port: number) {
    this.#options = options
    this.#cli = clientBeside(options.binary)
    this.port = port
  }

  /** Writes the server's files. It does not run yet. */
  static async create(options: ShippedRedisOptions): Promise<ShippedRedis> {
    const redis = new ShippedRedis(options, await freePort())
    for (const dir of [dirname(redis.dataDir), redis.dataDir]) {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await options.users.own(dir, options.kind)
    }
    const { ca, cert, key } = options.tls
    for (const [name, text] of Object.entries({ 'ca.crt': ca, 'server.crt': cert, 'server.key': key })) {
      await redis.#write(name, text)
    }
    await redis.#write('redis.conf', await redis.#configuration())
    redis.#passwords = await redis.#newPasswords()
    await redis.#writeUsers()
    return redis
  }

  get dataDir(): string {
    return this.#file('data')
  }

  url(user: string): string {
    return `rediss://${user}:${this.login(user).password}@localhost:${this.port}`
  }

  login(user: string): Login {
    return { user, password: this.#passwords.get(user) ?? '' }
  }

  /** Resolves when the server has loaded its data. Rejects with its last words when it ends instead. */
  async start(): Promise<void> {
    const { binary, kind, users } = this.#options
    let lastWords = ''
    let ending: Ending | undefined
    this.#group = await startRedisGroup(binary, [this.#file('redis.conf'), '--set-proc-title', 'no'], {
      cwd: this.dataDir,
      user: users.of(kind),
      onOutput: text => {
        lastWords = text
        this.#options.onOutput(text)
      }
    })
    void this.#group.ended.then(found => {
      ending = found
    })
    const deadlineMs = performance.now() + LOADING_MAX_MS
    while ((await this.ask('PING').catch(messageOf)) !== 'PONG') {
      if (ending !== undefined || performance.now() > deadlineMs) {
        throw new Error(`The ${kind} Redis did not start: ${lastWords.trim()}`)
      }
      await delay(POLL_MS)
    }
  }

  /** SIGTERM, and waits until it is gone. */
  async stop(): Promise<void> {
    await this.#group?.stop(STOPPING_MAX_MS)
    this.#group = undefined
  }

  killNow(): void {
    this.#group?.signal('SIGKILL')
  }

  /** One command of the administrator. Rejects with what Redis answers when it refuses. */
  async ask(...command: string[]): Promise<string> {
    return await this.askAs(this.login('administrator'), ...command)
  }

  /** One command of redis-cli with a login; undefined: without one. */
  async askAs(login: Login | undefined, ...command: string[]): Promise<string> {
    const server = ['-e', '-h', 'localhost', '-p', String(this.port), '--tls', '--cacert', this.#file('ca.crt')]
    const user = login === undefined ? [] : ['--user', login.user]
    const answer = await runToEnd(this.#cli, [...server, ...user, ...command], {
      ...(login === undefined ? {} : { REDISCLI_AUTH: login.password }),
      ...(this.#options.binary.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: this.#options.binary.libraryPath })
    })
    return answer.trim()
  }

  /** Keys that do not end by themselves: their number must not change while the service is at rest. */
  async keyCount(): Promise<number> {
    const [, keys, expiring] = /keys=(\d+),expires=(\d+)/.exec(await this.ask('INFO', 'keyspace')) ?? []
    return Number(keys ?? 0) - Number(expiring ?? 0)
  }

  async #newPasswords(): Promise<Map<string, string>> {
    const names = [...(await this.#template()).matchAll(/^user (\S+) on /gm)].map(([, name = '']) => name)
    return new Map(names.map(name => [name, randomBytes(PASSWORD_BYTES).toString('base64url')]))
  }

  async #writeUsers(): Promise<void> {
    const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex')
    const text = (await this.#template()).replace(/\$\{(\w+)_SHA256\}/g, (_, variable: string) =>
      hashOf(this.login(variable.toLowerCase()).password)
    )
    await this.#write('users.acl', text)
  }

  /** The shipped file with the paths, the address and the port of this machine, as an operator changes them. */
  async #configuration(): Promise<string> {
    const { kind, filesDir } = this.#options
    return `${await readFile(join(filesDir, `${kind}.conf`), 'utf8')}\nmaxmemory 2gb\n`
      .replaceAll('/etc/redis/tls', dirname(this.dataDir))
      .replace(`/etc/redis/${kind}.acl`, this.#file('users.acl'))
      .replace('/var/lib/redis', this.dataDir)
      .replace(/^bind .*$/m, 'bind 127.0.0.1 -::1')
      .replace(/^tls-port .*$/m, `tls-port ${this.port}`)
  }

  async #template(): Promise<string> {
    return await readFile(join(this.#options.filesDir, `${this.#options.kind}.acl`), 'utf8')
  }

  async #write(name: string, text: string): Promise<void> {
    await writeFile(this.#file(name), text, { mode: 0o600 })
    await this.#options.users.own(this.#file(name), this.#options.kind)
  }

  #file(name: string): string {
    return join(this.#options.dir, this.#options.kind, name)
  }
}

/** Packages bring the client with the server. */
function clientBeside({ file }: RedisBinary): string {
  const names = ['redis-cli', 'valkey-cli']
  const beside = names.map(name => join(dirname(realpathSync(file)), name)).find(isExecutable)
  const found = beside ?? names.map(findOnPath).find(path => path !== undefined)
  if (found === undefined) throw new Error('There is no redis-cli or valkey-cli on the PATH. Install one.')
  return found
}
