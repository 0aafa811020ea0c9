/**
 * What must be true of the settings of each Redis, for the start, /readyz and `operator doctor`.
 *
 * `CONFIG GET` also shows passwords, so no user of a process has it (docs/SECURITY.md). INFO reports some of the settings;
 * the others are known where the user may read them: to the user `doctor`, and under `npm start`.
 */
import type { Redis } from '../connection/connections.js'
import { isRefusal } from '../connection/redis-errors.js'
import { fieldsOf, infoField } from '../connection/reply-fields.js'

export interface Condition {
  readonly setting: string
  /** The first is the one to set. */
  readonly allowed: readonly string[]
}

/** Otherwise the durable Redis may lose what it confirmed. */
export const durableConditions: readonly Condition[] = [
  { setting: 'appendonly', allowed: ['yes'] },
  { setting: 'appendfsync', allowed: ['always'] },
  // `yes` skips fsync while the file is rewritten.
  { setting: 'no-appendfsync-on-rewrite', allowed: ['no'] },
  { setting: 'maxmemory-policy', allowed: ['noeviction'] }
]

/** No setting: how many snapshots a server has begun since its start, or since CONFIG RESETSTAT. */
export const SNAPSHOTS = 'rdb_saves'

/** Otherwise the memory-only Redis writes card data to a disk. */
export const memoryOnlyConditions: readonly Condition[] = [
  { setting: 'save', allowed: [''] },
  { setting: 'appendonly', allowed: ['no'] },
  { setting: SNAPSHOTS, allowed: ['0'] }
]

/**
 * And one that replicates: a master makes a snapshot on its disk for each full synchronisation, a replica stores what it
 * receives. `on-empty-db` is not enough, because a replica that synchronises again is not empty. Valkey also has
 * `flush-before-load`. After a failover each server may have either role.
 */
export const replicationConditions: readonly Condition[] = [
  { setting: 'repl-diskless-sync', allowed: ['yes'] },
  { setting: 'repl-diskless-load', allowed: ['swapdb', 'flush-before-load'] }
]

/** Otherwise it evicts tokens, CVVs and locks. A warning. */
export const evictionCondition: Condition = { setting: 'maxmemory-policy', allowed: ['noeviction'] }

const READ_SETTINGS = [...durableConditions, ...memoryOnlyConditions, ...replicationConditions].map(
  ({ setting }) => setting
)

/** Asks without an entry in the ACL log. */
const MAY_READ_CONFIG = `
local isKnown, may = pcall(redis.acl_check_cmd, 'CONFIG', 'GET', 'save')
return isKnown and may and 1 or 0`

/** The settings of one server; what its user may not read is undefined. */
type Settings = ReadonlyMap<string, string | undefined>

/** Rejects when the server does not answer. */
export async function readSettings(server: Redis): Promise<Settings> {
  const [info, flat] = await Promise.all([server.info('persistence', 'memory'), readConfig(server)])
  return new Map([
    ['appendonly', { 1: 'yes', 0: 'no' }[infoField(info, 'aof_enabled') ?? '']],
    [SNAPSHOTS, infoField(info, SNAPSHOTS)],
    ['maxmemory-policy', infoField(info, 'maxmemory_policy')],
    ...fieldsOf(flat)
  ])
}

/** Servers whose user may read settings, as far as is known: it is asked again only after a refusal. */
const mayRead = new WeakSet<Redis>()

/** Names and values in turn; empty where the user may not read them. */
async function readConfig(server: Redis): Promise<string[]> {
  if (!mayRead.has(server) && (await server.eval(MAY_READ_CONFIG, 0).catch(emptyWhenRefused)) !== 1) return []
  mayRead.add(server)
  const reply: unknown = await server.call('config', 'GET', ...READ_SETTINGS).catch(emptyWhenRefused)
  if (reply === null) mayRead.delete(server)
  return Array.isArray(reply) ? reply.map(String) : []
}

/** The conditions that a server breaks, with its value. What is not known breaks none. */
export function brokenBy(
  settings: Settings,
  conditions: readonly Condition[]
): (Condition & { readonly value: string })[] {
  return conditions.flatMap(condition => {
    const value = settings.get(condition.setting)
    return value === undefined || condition.allowed.includes(value) ? [] : [{ ...condition, value }]
  })
}

/** A service that has no CONFIG, or gives it to no user, says so in many ways. */
function emptyWhenRefused(error: unknown): null {
  if (isRefusal(error) || /unknown|not allowed|disabled/i.test(String(error))) return null
  throw error
}
