/**
 * The only reader of `process.env`. Its values are checked and frozen.
 *
 * Each setting is one row of a table in settings/: variable, default, rule, and the sentence that docs/CONFIGURATION.md prints.
 * `readConfig` reports all problems at once.
 */
import { accessSync, constants } from 'node:fs'
import { debuggerProblem } from './debugger.js'
import { misspeltVariables } from './misspelt-variables.js'
import { parseAddress } from './redis-address.js'
import type { SecretFile } from './secret-files.js'
import { everyProcess, type ProcessName, type Setting, sourceOf } from './setting.js'
import { archiveSettings } from './settings/archive-settings.js'
import { networkSettings } from './settings/network-settings.js'
import { paymentSettings } from './settings/payments-settings.js'
import { processSettings } from './settings/processes-settings.js'
import { redisSettings } from './settings/redis-settings.js'
import { tracesSettings } from './settings/traces-settings.js'
import { vaultSettings } from './settings/vault-settings.js'
import { webhookSettings } from './settings/webhooks-settings.js'

/** The tables of settings/, as docs/CONFIGURATION.md shows them. */
const groups = [
  { title: 'Every process', file: 'processes-settings.ts', settings: processSettings },
  { title: 'Redis', file: 'redis-settings.ts', settings: redisSettings },
  { title: 'Payments and their workers', file: 'payments-settings.ts', settings: paymentSettings },
  { title: 'The card network', file: 'network-settings.ts', settings: networkSettings },
  { title: 'The vault', file: 'vault-settings.ts', settings: vaultSettings },
  { title: 'Webhooks', file: 'webhooks-settings.ts', settings: webhookSettings },
  { title: 'The archive', file: 'archive-settings.ts', settings: archiveSettings },
  { title: 'Traces', file: 'traces-settings.ts', settings: tracesSettings }
] as const

const settings = {
  ...processSettings,
  ...redisSettings,
  ...paymentSettings,
  ...networkSettings,
  ...vaultSettings,
  ...webhookSettings,
  ...archiveSettings,
  ...tracesSettings
} as const

type Settings = typeof settings
/** The configuration of one process. Amounts of time are in ms unless the name says days. */
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never }

/** A start with bad settings: `problems` has a sentence for each of them, with its variable and what is expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is wrong; nothing was started.\n${problems.map(line => `  - ${line}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Reads the settings that a process uses; without a name all of them, for `npm start`. Throws `ConfigError` with all bad
 * variables and all missing key files. To read a setting that the process does not use throws, so that `usedBy` in the
 * tables of settings/ is correct. `defaults` replace those of the tables.
 */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  processName?: ProcessName,
  defaults: Readonly<Record<string, string>> = {}
): Config {
  const uses: Uses = (...names) => names.every(name => isUsedBy(settings[name], processName))
  const { values, problems } = parsedValues(env, processName, defaults)
  problems.unshift(...misspeltVariables(env, allVariables))
  const config = values as Config
  const isReplicaCountUnset = uses('waitReplicas', 'redisUrl') && !isGiven('WAIT_REPLICAS', env)
  if (problems.length === 0 && isReplicaCountUnset && hasReplicas(config.redisUrl)) {
    values['waitReplicas'] = 1
    if (config.environment === 'live' && processName !== 'operator') problems.push(EXPLICIT_REPLICAS)
  }
  if (problems.length === 0) problems.push(...brokenRelations(config, uses))
  if (processName === 'archive' && config.archiveUrl === '') {
    problems.push(`ARCHIVE_URL is not set, and \`archive\` needs it. ${settings.archiveUrl.doc}`)
  }
  if (uses('environment') && config.environment === 'live') problems.push(...openDoors(env))
  problems.push(...missingKeyFiles(processName, env))
  if (processName !== undefined) problems.push(...unreadableAuthorities(env))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** The value of each setting that the process uses, and a sentence for each that is wrong. */
function parsedValues(
  env: NodeJS.ProcessEnv,
  processName: ProcessName | undefined,
  defaults: Readonly<Record<string, string>>
): { values: Record<string, unknown>; problems: string[] } {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(settings)) {
    if (!isUsedBy(row, processName)) {
      Object.defineProperty(values, name, { get: () => refuseToRead(row, processName) })
      continue
    }
    const { text: source, shown } = sourceOf({ ...row, fallback: defaults[row.variable] ?? row.fallback }, env)
    try {
      if (source === undefined) throw new RangeError('cannot be read')
      values[name] = row.parse(source)
    } catch (error) {
      problems.push(`${shown}: ${error instanceof Error ? error.message : 'is invalid'}`)
    }
  }
  return { values, problems }
}

/** The variables that `npm start` does not pass to a process, because the process does not use them. */
export function variablesKeptFrom(processName: string): readonly string[] {
  return Object.values(settings)
    .filter(({ usedBy }) => !(usedBy as readonly string[]).includes(processName))
    .flatMap(({ variable }) => [variable, `${variable}_FILE`])
}

/** The variables of the key files without which a process of the Procfile does not start. */
export function keyFilesOf(processName: string): readonly string[] {
  if (!(everyProcess as readonly string[]).includes(processName)) return []
  return Object.values(settings)
    .filter(({ kind, usedBy }) => kind.endsWith('KeyFile') && (usedBy as readonly string[]).includes(processName))
    .map(({ variable }) => variable)
}

/** Whether the environment sets this variable or its `_FILE`. */
export function isGiven(variable: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env[variable] ?? '') !== '' || (env[`${variable}_FILE`] ?? '') !== ''
}

/** The sections of docs/CONFIGURATION.md, one for each file of settings/: what an operator may set. */
export function describeSettings(): {
  title: string
  file: string
  rows: Pick<Setting<unknown>, 'variable' | 'usedBy' | 'fallback' | 'doc'>[]
}[] {
  return groups.map(group => ({
    title: group.title,
    file: `runtime/settings/${group.file}`,
    rows: Object.values<Setting<unknown>>(group.settings).filter(({ isUndocumented }) => !isUndocumented)
  }))
}

/**
 * The life of a payment's lock. Holders renew it, so it may be shorter than a network call. It equals the silence after
 * which a worker counts as dead, so that the lock is free at the takeover.
 */
export function lockTtlMs(config: Config): number {
  return config.takeoverAfterMs
}

/** One of its replicas may take over by itself. */
function hasReplicas(redisUrl: string): boolean {
  return parseAddress(redisUrl).kind !== 'single'
}

const EXPLICIT_REPLICAS =
  'WAIT_REPLICAS is not set, and REDIS_URL names Sentinels or a Cluster, where a replica may take over: set how many must have a write before it is answered (docs/REDIS.md)'

const allVariables = Object.values(settings).map(({ variable }) => variable)

function isUsedBy({ usedBy }: Setting<unknown>, processName: ProcessName | undefined): boolean {
  return processName === undefined || usedBy.includes(processName)
}

function refuseToRead({ variable }: Setting<unknown>, processName: ProcessName | undefined): never {
  throw new Error(`\`${processName}\` reads ${variable}; its row in runtime/settings/ does not name this process.`)
}

/** The key files that a process needs and was not given, or cannot read. */
function missingKeyFiles(processName: ProcessName | undefined, env: NodeJS.ProcessEnv): string[] {
  const needed = keyFilesOf(processName ?? '')
  return Object.values(settings).flatMap(row => {
    if (!needed.includes(row.variable)) return []
    const { text: file, shown } = sourceOf(row, env)
    if (file === '') return [`${row.variable} is not set, and \`${processName}\` needs it. ${row.doc}`]
    // `api` registers no endpoint without it, and warns; what it does for payments needs no file of webhooks.
    const mayBeLost = processName === 'api' && row.variable === settings.webhookKeysFile.variable
    return file !== undefined && !mayBeLost && !isReadable(file) ? [`${shown}: the file cannot be read`] : []
  })
}

/** Node reads this file and only warns when it can't: each TLS connection would then fail with "self-signed certificate". */
function unreadableAuthorities({ NODE_EXTRA_CA_CERTS: file = '' }: NodeJS.ProcessEnv): string[] {
  return file === '' || isReadable(file) ? [] : [`NODE_EXTRA_CA_CERTS=${file}: the file cannot be read`]
}

/** Switches of Node and of libraries that give away what a live process protects. */
function openDoors({ NODE_TLS_REJECT_UNAUTHORIZED: tls, DEBUG: debug = '' }: NodeJS.ProcessEnv): string[] {
  const problems = [debuggerProblem()]
  if (tls === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED=0: accepts any server as the card network and as Redis; remove it, and name a private authority in NODE_EXTRA_CA_CERTS'
    )
  }
  if (debug !== '') problems.push('DEBUG: makes libraries print passwords; remove it in the live environment')
  return problems.filter(problem => problem !== undefined)
}

/** The files from which a process reads secrets: its secret key files, and every `…_FILE` that replaces a variable. */
export function secretFilesOf(processName: ProcessName, env: NodeJS.ProcessEnv = process.env): SecretFile[] {
  return Object.values(settings).flatMap(row => {
    if (!isUsedBy(row, processName)) return []
    const { variable, kind } = row
    const replacing = env[variable] ? undefined : env[`${variable}_FILE`]
    const replaced = replacing ? [{ variable: `${variable}_FILE`, file: replacing }] : []
    const { text: file } = sourceOf(row, env)
    return kind === 'secretKeyFile' && file ? [...replaced, { variable, file }] : replaced
  })
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Whether the process uses all of these settings. A relation is checked only then. */
type Uses = (...names: readonly (keyof Config)[]) => boolean

function brokenRelations(config: Config, uses: Uses): string[] {
  const problems: string[] = []
  if (uses('notFoundHorizonMs', 'networkConnectTimeoutMs', 'networkAuthoriseTimeoutMs', 'networkTimeoutMs')) {
    const longestCallMs =
      config.networkConnectTimeoutMs + Math.max(config.networkAuthoriseTimeoutMs, config.networkTimeoutMs)
    if (config.notFoundHorizonMs <= longestCallMs) {
      problems.push(
        `NOT_FOUND_HORIZON_MS=${config.notFoundHorizonMs}: must be longer than any network call (${longestCallMs} ms)`
      )
    }
  }
  if (uses('takeoverAfterMs', 'heartbeatMs') && config.takeoverAfterMs < 2 * config.heartbeatMs) {
    problems.push(
      `TAKEOVER_AFTER_MS=${config.takeoverAfterMs}: must be at least twice HEARTBEAT_MS (${config.heartbeatMs})`
    )
  }
  if (
    uses('archiveUrl', 'idempotencyRetentionDays') &&
    config.archiveUrl !== '' &&
    config.idempotencyRetentionDays < 90
  ) {
    problems.push(
      `IDEMPOTENCY_RETENTION_DAYS=${config.idempotencyRetentionDays}: must be at least 90 with ARCHIVE_URL, because it then holds for creates`
    )
  }
  if (uses('redlockUrls') && ![0, 1, 3, 5].includes(config.redlockUrls.length)) {
    problems.push(`REDLOCK_URLS: names ${config.redlockUrls.length} masters; a majority needs 1, 3 or 5`)
  }
  if (uses('environment') && config.environment === 'live') problems.push(...liveProblems(config, uses))
  return problems
}

const WITHOUT_DEFAULT_IN_LIVE = ['networkMerchantId', 'networkMerchantKey', 'notificationsSecret', 'tokensUrl'] as const
const HTTPS_IN_LIVE = ['networkTransactionUrl', 'networkQueryUrl', 'tokensUrl'] as const
/** This secret authorises posting notifications: at least as long as 128 random bits in hex, and not one character repeated. */
const SECRET_LENGTH_MIN = 32
const SECRET_CHARACTERS_MIN = 8

function liveProblems(config: Config, uses: Uses): string[] {
  const problems: string[] = []
  for (const key of WITHOUT_DEFAULT_IN_LIVE.filter(name => uses(name))) {
    if (config[key] === settings[key].fallback) {
      problems.push(`${settings[key].variable}: has no default in the live environment; set it`)
    }
  }
  for (const key of HTTPS_IN_LIVE.filter(name => uses(name))) {
    if (!config[key].startsWith('https://'))
      problems.push(`${settings[key].variable}: must be https in the live environment`)
  }
  if (uses('notificationsSecret') && isWeak(config.notificationsSecret)) {
    problems.push(
      `NOTIFICATIONS_SECRET: must have at least ${SECRET_LENGTH_MIN} random characters in the live environment; make one with \`openssl rand -hex 32\``
    )
  }
  return problems
}

function isWeak(value: string): boolean {
  return value.length < SECRET_LENGTH_MIN || new Set(value).size < SECRET_CHARACTERS_MIN
}
