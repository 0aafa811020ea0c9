/** The environment variables of each process. Any other runner sets the same names. */
import { join } from 'node:path'
import { isGiven, variablesKeptFrom } from '../../runtime/config.js'
import { type PortPlan, portVariables } from './ports.js'
import type { PlannedInstance } from './procfile.js'

/** Where the first instance of each listening process is reached; null when it does not run. */
export interface ServiceUrls {
  readonly base_url: string | null
  readonly tokens_url: string | null
  readonly network_url: string | null
}

/** What the environment of the processes depends on. */
export interface Surroundings {
  /** The environment of `npm start`. */
  readonly given: NodeJS.ProcessEnv
  readonly ports: PortPlan
  readonly dataDir: string
  readonly redisUrl: string
  readonly secretsRedisUrl: string
  /** Of the embedded PostgreSQL, where one runs. */
  readonly archiveUrl?: string
  readonly vault: { readonly publicFile: string; readonly privateFile: string } | undefined
  /** Keys of the signing secrets, and the certificate authorities that `webhooks` trusts. */
  readonly webhooks: { readonly keysFile: string; readonly caFile: string } | undefined
}

/** Lets webhooks reach the machine of a developer. The egress policy refuses these addresses by default. */
const LOOPBACK_NETWORKS = '127.0.0.0/8,::1/128'

/** The addresses of the first instances. */
export function serviceUrls(ports: PortPlan): ServiceUrls {
  return {
    base_url: urlOf(ports, 'api.1'),
    tokens_url: urlOf(ports, 'tokens.1'),
    network_url: urlOf(ports, 'network.1')
  }
}

/** `http://host:port` of one instance; null when it does not listen or run. */
export function urlOf(ports: PortPlan, instance: string): string | null {
  const place = ports.get(instance)
  if (place === undefined) return null
  const host = ['0.0.0.0', '::'].includes(place.host) ? '127.0.0.1' : place.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${place.port}`
}

/** The environment of one instance. `opsPort` is another one at every start. */
export function environmentOf(instance: PlannedInstance, around: Surroundings, opsPort: number): NodeJS.ProcessEnv {
  const { given, ports, vault, webhooks } = around
  const urls = serviceUrls(ports)
  const name = `${instance.name}.${instance.instance}`
  const defaults: NodeJS.ProcessEnv = {
    REDIS_URL: around.redisUrl,
    SECRETS_REDIS_URL: around.secretsRedisUrl,
    ARCHIVE_URL: around.archiveUrl,
    TOKENS_URL: urls.tokens_url ?? undefined,
    NETWORK_TRANSACTION_URL: urls.network_url ?? undefined,
    NETWORK_QUERY_URL: urls.network_url ?? undefined,
    SIMULATOR_URL: urls.network_url ?? undefined,
    NOTIFICATIONS_URL: notificationsUrl(ports),
    WEBHOOK_ALLOWED_NETWORKS: given['SERVICE_ENV'] === 'live' ? undefined : LOOPBACK_NETWORKS,
    VAULT_PUBLIC_KEYS_FILE: vault?.publicFile,
    VAULT_PRIVATE_KEYS_FILE: vault?.privateFile,
    WEBHOOK_KEYS_FILE: webhooks?.keysFile
  }
  const env: NodeJS.ProcessEnv = {
    ...withoutNpm(given),
    ...Object.fromEntries(Object.entries(defaults).filter(([key]) => !isGiven(key, given))),
    DATA_DIR: around.dataDir,
    OPS_PORT: String(opsPort),
    SUPERVISED: 'yes'
  }
  const portVariable = portVariables[instance.name]
  const place = ports.get(name)
  if (portVariable !== undefined && place !== undefined)
    Object.assign(env, { HOST: place.host, [portVariable]: String(place.port) })
  for (const variable of variablesKeptFrom(instance.name)) delete env[variable]
  if (instance.name === 'webhooks' && webhooks !== undefined) env['NODE_EXTRA_CA_CERTS'] = webhooks.caFile
  return env
}

/** What every supervised process needs besides its configuration. */
export function bareEnvironment(opsPort: number): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], OPS_PORT: String(opsPort), SUPERVISED: 'yes' }
}

/** Folder of the key files of the test environment. */
export function vaultDir(dataDir: string): string {
  return join(dataDir, 'vault')
}

function notificationsUrl(ports: PortPlan): string | undefined {
  const url = urlOf(ports, 'notifications.1')
  return url === null ? undefined : `${url}/notifications`
}

/** Without the variables that npm adds to its scripts. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !key.startsWith('npm_')))
}
