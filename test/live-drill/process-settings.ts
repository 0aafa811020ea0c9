/**
 * What each process of the drill is given: its systemd unit's environment and credentials, as files of its own user.
 * Addresses that this machine does not have, and times that a drill cannot wait for, are replaced.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import type { UnixUser } from '../../scripts/start/process-group.js'
import { type KeyFiles, keyFilesIn, webhookKeyFileIn } from '../../vault/key-files.js'
import { readSettings, readUnit, type Unit } from '../support/systemd-units.js'
import type { ShippedRedis } from './shipped-redis.js'
import type { UnixUsers } from './unix-users.js'

const processNames = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks'] as const

/** Production's times, shorter, so that a drill sees the end of what it begins. */
const NETWORK_TIMES = {
  NETWORK_CONNECT_TIMEOUT_MS: '3000',
  NETWORK_AUTHORISE_TIMEOUT_MS: '4500',
  NETWORK_TIMEOUT_MS: '4500',
  NETWORK_RETRY_MS: '2000',
  NOT_FOUND_HORIZON_MS: '8000',
  RECONCILE_DELAYS_MS: '300,600,1200'
}
const HEARTBEATS = { HEARTBEAT_MS: '500', TAKEOVER_AFTER_MS: '2000' }
/** Longer than the balancer needs to see that an instance stops. */
const DRAIN = { DRAIN_DELAY_MS: '1000', RATE_LIMIT_PER_SECOND: '0' }
const LOOPBACK = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' }

export interface SettingsOptions {
  /** The unpacked release. */
  readonly root: string
  readonly dir: string
  readonly users: UnixUsers
  readonly durable: ShippedRedis
  readonly memoryOnly: ShippedRedis
  /** The authorities of Redis and of the card network; `webhooks` trusts that of the receivers, too. */
  readonly authorities: { readonly own: TlsMaterial; readonly receivers: TlsMaterial }
  /** The https address of the card network. */
  readonly networkUrl: string
}

/** Credentials of the card network, made up for this drill. */
export interface Credentials {
  readonly merchantId: string
  readonly merchantKey: string
  readonly notificationsSecret: string
}

export interface KeyPlaces {
  readonly vault: KeyFiles
  readonly webhookKeysFile: string
}

/** Has the operator make the key files of an installation in a folder, with owners and modes as docs/SECURITY.md says. */
async function makeKeys(root: string, dir: string, users: UnixUsers): Promise<KeyPlaces> {
  const init = async (noun: string, mode: string, owner: UnixUser | undefined): Promise<void> => {
    const ownership = owner === undefined ? [] : ['--owner', `${owner.uid}:${owner.gid}`]
    const command = [join(root, 'dist/scripts/operator/operator.js'), noun, 'init', dir, '--mode', mode, ...ownership]
    await runToEnd(process.execPath, command, { SERVICE_ENV: 'live' }, root)
  }
  await init('vault', '600', users.of('payments'))
  await init('webhook-keys', '640', users.of('webhooks'))
  const vault = keyFilesIn(dir)
  chmodSync(dir, 0o711)
  chmodSync(vault.publicFile, 0o644)
  return { vault, webhookKeysFile: webhookKeyFileIn(dir).privateFile }
}

export class ProcessSettings {
  readonly credentials: Credentials
  readonly keys: KeyPlaces
  readonly #options: SettingsOptions

  private constructor(options: SettingsOptions, keys: KeyPlaces) {
    this.#options = options
    this.keys = keys
    this.credentials = {
      merchantId: randomUUID(),
      merchantKey: randomBytes(20).toString('hex').toUpperCase(),
      notificationsSecret: randomBytes(32).toString('hex')
    }
  }

  static async create(options: SettingsOptions): Promise<ProcessSettings> {
    const settings = new ProcessSettings(
      options,
      await makeKeys(options.root, join(options.dir, 'keys'), options.users)
    )
    await settings.write()
    return settings
  }

  /** Writes what the processes read. Again after a change of passwords. */
  async write(): Promise<void> {
    const { authorities } = this.#options
    await writeFile(this.#file('redis-ca.pem'), authorities.own.ca)
    await writeFile(this.#file('webhook-authorities.pem'), `${authorities.own.ca}\n${authorities.receivers.ca}`)
    for (const name of processNames) {
      for (const [id, file] of this.#unitOf(name).credentials) await this.#writeSecret(name, id, file)
    }
    for (const id of ['redis_url', 'secrets_redis_url']) {
      await this.#writeSecret('operator', id, this.#file(`secrets/operator/${id}`))
    }
  }

  /** The environment of a process; `PATH`, ports and what a supervisor adds are not in it. */
  of(name: string): NodeJS.ProcessEnv {
    const { PORT, TOKENS_PORT, NOTIFICATIONS_PORT, OPS_PORT, ...environment } = this.#unitOf(name).environment
    return { ...environment, ...this.#replaced(name) }
  }

  /** The operator works as the user who runs the drill, as root does on a machine. */
  ofOperator(): NodeJS.ProcessEnv {
    const files = ['common.env', 'operator.env']
    return { ...readSettings(join(this.#options.root, 'deploy/systemd'), files, this.#options.dir), ...LOOPBACK }
  }

  /** Where processes, each as its own user, read what they should not, or can't read what they need; one line each. */
  wrongReaders(): string[] {
    const { users } = this.#options
    return this.#guardedFiles().flatMap(({ file, readers }) =>
      processNames.flatMap(name => {
        const isReadable = spawnSync('/bin/sh', ['-c', 'test -r "$1"', 'sh', file], { ...users.of(name) }).status === 0
        return isReadable === readers.includes(name) ? [] : `${name} ${isReadable ? 'reads' : 'cannot read'} ${file}`
      })
    )
  }

  #guardedFiles(): readonly { readonly file: string; readonly readers: readonly string[] }[] {
    const own = processNames.flatMap(name =>
      [...this.#unitOf(name).credentials.values()].map(file => ({ file, readers: [name] }))
    )
    return [
      ...own,
      { file: this.keys.vault.privateFile, readers: ['payments'] },
      // No secret, and all may read it.
      { file: this.keys.vault.publicFile, readers: processNames },
      { file: this.keys.webhookKeysFile, readers: ['api', 'webhooks'] }
    ]
  }

  /** The unit as it is on this machine: no systemd copies credentials, so each process reads the file itself. */
  #unitOf(name: string): Unit {
    const folders = { etcDir: this.#options.dir, credentialsDir: this.#file(join('secrets', name)) }
    return readUnit(join(this.#options.root, 'deploy/systemd'), name, folders)
  }

  /** Of the environment of the unit. */
  #replaced(name: string): NodeJS.ProcessEnv {
    switch (name) {
      case 'api':
        return { ...LOOPBACK, ...DRAIN }
      case 'tokens':
        return DRAIN
      case 'notifications':
        return { DRAIN_DELAY_MS: DRAIN.DRAIN_DELAY_MS }
      case 'payments':
        return {
          NETWORK_TRANSACTION_URL: this.#options.networkUrl,
          NETWORK_QUERY_URL: this.#options.networkUrl,
          ...NETWORK_TIMES,
          ...HEARTBEATS
        }
      case 'timers':
        return HEARTBEATS
      case 'webhooks':
        return {
          ...LOOPBACK,
          ...HEARTBEATS,
          NODE_EXTRA_CA_CERTS: this.#file('webhook-authorities.pem'),
          WEBHOOK_RETRY_DELAYS_MS: '500,1000,2000,4000,8000,8000,8000,8000,8000,8000'
        }
      default:
        throw new Error(`unreachable: the drill has no settings for ${name}`)
    }
  }

  async #writeSecret(name: string, id: string, file: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o711 })
    await rm(file, { force: true })
    await writeFile(file, this.#secretOf(name, id), { mode: 0o400 })
    await this.#options.users.own(file, name)
  }

  #secretOf(name: string, id: string): string {
    const { durable, memoryOnly } = this.#options
    const secrets: Readonly<Record<string, string>> = {
      redis_url: durable.url(name),
      secrets_redis_url: memoryOnly.url(name),
      network_merchant_id: this.credentials.merchantId,
      network_merchant_key: this.credentials.merchantKey,
      notifications_secret: this.credentials.notificationsSecret
    }
    const secret = secrets[id]
    if (secret === undefined)
      throw new Error(`The unit of ${name} has a credential that the drill does not know: ${id}.`)
    return secret
  }

  #file(name: string): string {
    return join(this.#options.dir, name)
  }
}
