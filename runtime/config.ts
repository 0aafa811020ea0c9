/**
 * The only reader of `process.env`: strings in, checked and frozen values out.
 *
 * Each setting is one row of a table in settings/: variable, default, rule, and the sentence that docs/CONFIGURATION.md prints.
 * `readConfig` reports every problem at once, so that a start with three mistakes needs one correction, not three.
 */
import { accessSync, constants } from 'node:fs'
import type { SecretFile } from './secret-files.js'
import { type Setting, sourceOf } from './setting.js'
import { keyFilesOf, secretKeyFiles } from './settings/key-files.js'
import { networkSettings } from './settings/network.js'
import { paymentSettings } from './settings/payments.js'
import { processSettings } from './settings/processes.js'
import { redisSettings } from './settings/redis.js'
import { vaultSettings } from './settings/vault.js'
import { webhookSettings } from './settings/webhooks.js'

/** The tables of settings/, as docs/CONFIGURATION.md shows them. */
const groups = [
  { title: 'Every process', file: 'processes.ts', settings: processSettings },
  { title: 'Redis', file: 'redis.ts', settings: redisSettings },
  { title: 'Payments and their workers', file: 'payments.ts', settings: paymentSettings },
  { title: 'The card network', file: 'network.ts', settings: networkSettings },
  { title: 'The vault', file: 'vault.ts', settings: vaultSettings },
  { title: 'Webhooks', file: 'webhooks.ts', settings: webhookSettings }
] as const

const settings = {
  ...processSettings,
  ...redisSettings,
  ...paymentSettings,
  ...networkSettings,
  ...vaultSettings,
  ...webhookSettings
} as const

type Settings = typeof settings
/** The configuration of one process. Amounts of time are in ms unless the name says days. */
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never }

/** A start with bad settings: `message` lists every one of them, with its value and what is expected. */
export class ConfigError extends Error {}

/**
 * Reads the environment. Throws `ConfigError` that names all bad variables at once; with the name of a process of the
 * Procfile, also the key files which that process needs and does not have.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, processName = ''): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(settings)) {
    const { text: source, shown } = sourceOf(row, env)
    try {
      if (source === undefined) throw new RangeError('cannot be read')
      values[name] = row.parse(source)
    } catch (error) {
      problems.push(`${shown}: ${error instanceof Error ? error.message : 'is invalid'}`)
    }
  }
  const config = values as Config
  if (problems.length === 0) problems.push(...brokenRelations(config))
  problems.push(...missingKeyFiles(processName, env))
  if (problems.length > 0) {
    throw new ConfigError(
      `The configuration is wrong; nothing was started.\n${problems.map(line => `  - ${line}`).join('\n')}`
    )
  }
  return Object.freeze(config)
}

/** Whether the environment names this variable, so that its default does not count. */
export function isGiven(variable: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env[variable] ?? '') !== '' || (env[`${variable}_FILE`] ?? '') !== ''
}

/** The sections of docs/CONFIGURATION.md, one for each file of settings/. */
export function describeSettings(): {
  title: string
  file: string
  rows: { variable: string; fallback: string; doc: string }[]
}[] {
  return groups.map(group => ({
    title: group.title,
    file: `runtime/settings/${group.file}`,
    rows: Object.values(group.settings).map(({ variable, fallback, doc }) => ({ variable, fallback, doc }))
  }))
}

/**
 * How long the lock of a payment outlives its holder. Holders renew it, so it may be shorter than a network call; it is
 * as long as the silence after which a worker counts as dead, so that whoever takes over finds it free.
 */
export function lockTtlMs(config: Config): number {
  return config.takeoverAfterMs
}

/** The key files that a process needs and was not given, or cannot read. */
function missingKeyFiles(processName: string, env: NodeJS.ProcessEnv): string[] {
  const needed = keyFilesOf(processName)
  return Object.values(settings).flatMap(row => {
    if (!needed.includes(row.variable)) return []
    const { text: file, shown } = sourceOf(row, env)
    if (file === '') return [`${row.variable}: is not set, and \`${processName}\` needs it. ${row.doc}`]
    return file !== undefined && !isReadable(file) ? [`${shown}: the file cannot be read`] : []
  })
}

/** The files from which a process reads secrets: its secret key files, and every `…_FILE` that replaces a variable. */
export function secretFilesOf(processName: string, env: NodeJS.ProcessEnv = process.env): SecretFile[] {
  const needed = keyFilesOf(processName).filter(variable => secretKeyFiles.includes(variable))
  return Object.values(settings).flatMap(row => {
    const { variable } = row
    const replacing = env[variable] ? undefined : env[`${variable}_FILE`]
    const replaced = replacing ? [{ variable: `${variable}_FILE`, file: replacing }] : []
    const { text: file } = sourceOf(row, env)
    return needed.includes(variable) && file ? [...replaced, { variable, file }] : replaced
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

function brokenRelations(config: Config): string[] {
  const problems: string[] = []
  const longestCallMs =
    config.networkConnectTimeoutMs + Math.max(config.networkAuthoriseTimeoutMs, config.networkTimeoutMs)
  if (config.notFoundHorizonMs <= longestCallMs) {
    problems.push(
      `NOT_FOUND_HORIZON_MS=${config.notFoundHorizonMs}: must be longer than any network call (${longestCallMs} ms)`
    )
  }
  if (config.takeoverAfterMs < 2 * config.heartbeatMs) {
    problems.push(
      `TAKEOVER_AFTER_MS=${config.takeoverAfterMs}: must be at least twice HEARTBEAT_MS (${config.heartbeatMs})`
    )
  }
  if (![0, 1, 3, 5].includes(config.redlockUrls.length)) {
    problems.push(`REDLOCK_URLS: names ${config.redlockUrls.length} masters; a majority needs 1, 3 or 5`)
  }
  if (config.environment === 'live') problems.push(...liveProblems(config))
  return problems
}

function liveProblems(config: Config): string[] {
  const problems: string[] = []
  for (const key of ['networkMerchantId', 'networkMerchantKey', 'notificationsSecret'] as const) {
    if (config[key] === settings[key].fallback) {
      problems.push(`${settings[key].variable}: has no default in the live environment; set it`)
    }
  }
  for (const key of ['networkTransactionUrl', 'networkQueryUrl'] as const) {
    if (!config[key].startsWith('https://'))
      problems.push(`${settings[key].variable}: must be https in the live environment`)
  }
  if (config.crashPoints.length > 0)
    problems.push('CRASH_POINTS: kills processes on purpose; the test environment only')
  return problems
}
