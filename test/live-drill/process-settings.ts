/** What each process of the drill is given: its own secrets as files of its own user, and the variables that it reads. */
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import type { TlsMaterial } from '../../scripts/start/loopback-tls.js'
import type { UnixUser } from '../../scripts/start/process-group.js'
import { type KeyFiles, keyFilesIn, webhookKeyFileIn } from '../../vault/key-files.js'
import type { ShippedRedis } from './shipped-redis.js'
import type { UnixUsers } from './unix-users.js'

const processNames = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks'] as const

/** Production's times, shorter, so that a drill sees the end of what it begins. */
const NETWORK_TIMES = {
  NETWORK_CONNECT_TIMEOUT_MS: '2000',
  NETWORK_AUTHORISE_TIMEOUT_MS: '3000',
  NETWORK_TIMEOUT_MS: '3000',
  NETWORK_RETRY_MS: '2000',
  NOT_FOUND_HORIZON_MS: '8000',
  RECONCILE_DELAYS_MS: '300,600,1200'
}
const HEARTBEATS = { HEARTBEAT_MS: '500', TAKEOVER_AFTER_MS: '2000' }
/** Longer than the balancer needs to see that an instance stops. */
const DRAIN = { DRAIN_DELAY_MS: '1000', RATE_LIMIT_PER_SECOND: '0' }
const LOOPBACK = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' }

export interface SettingsOptions {
  /** The checkout. */
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
export async function makeKeys(root: string, dir: string, users: UnixUsers): Promise<KeyPlaces> {
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
    const { authorities, durable, memoryOnly } = this.#options
    const { credentials } = this
    await writeFile(this.#file('authorities.pem'), authorities.own.ca)
    await writeFile(this.#file('webhook-authorities.pem'), `${authorities.own.ca}\n${authorities.receivers.ca}`)
    for (const name of [...processNames, 'operator'] as const) {
      await this.#writeSecret(name, 'REDIS_URL', durable.url(name))
    }
    for (const name of ['api', 'tokens', 'payments', 'webhooks'] as const) {
      await this.#writeSecret(name, 'SECRETS_REDIS_URL', memoryOnly.url(name))
    }
    await this.#writeSecret('payments', 'NETWORK_MERCHANT_KEY', credentials.merchantKey)
    await this.#writeSecret('notifications', 'NOTIFICATIONS_SECRET', credentials.notificationsSecret)
  }

  /** The environment of a process; `PATH`, ports and what a supervisor adds are not in it. */
  of(name: string): NodeJS.ProcessEnv {
    const authorities = name === 'webhooks' ? 'webhook-authorities.pem' : 'authorities.pem'
    return {
      SERVICE_ENV: 'live',
      NODE_EXTRA_CA_CERTS: this.#file(authorities),
      ...this.#secrets(name, 'REDIS_URL'),
      ...this.#ownSettings(name)
    }
  }

  /** The operator works as the user who runs the drill, as root does on a machine. */
  ofOperator(): NodeJS.ProcessEnv {
    return {
      SERVICE_ENV: 'live',
      NODE_EXTRA_CA_CERTS: this.#file('authorities.pem'),
      ...this.#secrets('operator', 'REDIS_URL'),
      VAULT_PUBLIC_KEYS_FILE: this.keys.vault.publicFile,
      VAULT_PRIVATE_KEYS_FILE: this.keys.vault.privateFile,
      WEBHOOK_KEYS_FILE: this.keys.webhookKeysFile
    }
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
    const own = processNames.map(name => ({ file: this.#secretFile(name, 'REDIS_URL'), readers: [name] }))
    return [
      ...own,
      { file: this.#secretFile('payments', 'NETWORK_MERCHANT_KEY'), readers: ['payments'] },
      { file: this.keys.vault.privateFile, readers: ['payments'] },
      // No secret, and all may read it.
      { file: this.keys.vault.publicFile, readers: processNames },
      { file: this.keys.webhookKeysFile, readers: ['api', 'webhooks'] }
    ]
  }

  #ownSettings(name: string): NodeJS.ProcessEnv {
    const vaultPublic = { VAULT_PUBLIC_KEYS_FILE: this.keys.vault.publicFile }
    const webhookKeys = { WEBHOOK_KEYS_FILE: this.keys.webhookKeysFile }
    switch (name) {
      case 'api':
        return {
          ...this.#secrets(name, 'SECRETS_REDIS_URL'),
          ...vaultPublic,
          ...webhookKeys,
          ...LOOPBACK,
          ...DRAIN,
          TOKENS_URL: 'https://tokens.example'
        }
      case 'tokens':
        return { ...this.#secrets(name, 'SECRETS_REDIS_URL'), ...vaultPublic, ...DRAIN }
      case 'notifications':
        return this.#secrets(name, 'NOTIFICATIONS_SECRET')
      case 'payments':
        return {
          ...this.#secrets(name, 'SECRETS_REDIS_URL', 'NETWORK_MERCHANT_KEY'),
          VAULT_PRIVATE_KEYS_FILE: this.keys.vault.privateFile,
          NETWORK_MERCHANT_ID: this.credentials.merchantId,
          NETWORK_TRANSACTION_URL: this.#options.networkUrl,
          NETWORK_QUERY_URL: this.#options.networkUrl,
          ...NETWORK_TIMES,
          ...HEARTBEATS
        }
      case 'timers':
        return HEARTBEATS
      case 'webhooks':
        return {
          ...this.#secrets(name, 'SECRETS_REDIS_URL'),
          ...webhookKeys,
          ...LOOPBACK,
          ...HEARTBEATS,
          WEBHOOK_RETRY_DELAYS_MS: '500,1000,2000,4000,8000,8000,8000,8000,8000,8000'
        }
      default:
        throw new Error(`unreachable: the drill has no settings for ${name}`)
    }
  }

  #secrets(name: string, ...variables: readonly string[]): NodeJS.ProcessEnv {
    return Object.fromEntries(variables.map(variable => [`${variable}_FILE`, this.#secretFile(name, variable)]))
  }

  async #writeSecret(name: string, variable: string, text: string): Promise<void> {
    const dir = this.#file(join('secrets', name))
    const file = this.#secretFile(name, variable)
    await mkdir(dir, { recursive: true, mode: 0o711 })
    await rm(file, { force: true })
    await writeFile(file, text, { mode: 0o400 })
    await this.#options.users.own(file, name)
  }

  #secretFile(name: string, variable: string): string {
    return this.#file(join('secrets', name, variable.toLowerCase()))
  }

  #file(name: string): string {
    return join(this.#options.dir, name)
  }
}
