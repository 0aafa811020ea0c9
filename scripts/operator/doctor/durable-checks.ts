/** What `operator doctor` asks of the durable Redis; most of it each process asks at its start, too. */

import type { Environment } from '../../../machines/model.js'
import { livingConsumers } from '../../../redis/commands/takeover.js'
import { mastersOf, nameOfServer } from '../../../redis/connection/cluster-nodes.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { clockWarning } from '../../../redis/connection/redis-clock.js'
import { growthWarning } from '../../../redis/installation/append-only-file.js'
import {
  type Condition,
  durableConditions,
  REWRITE_SETTING,
  readSettings,
  SNAPSHOTS
} from '../../../redis/installation/conditions.js'
import { DATA_PART, UNVOUCHED, wentBackSentence } from '../../../redis/installation/data-sentences.js'
import { durabilityProblem } from '../../../redis/installation/durability.js'
import { findInstallation, type Installation, requireAgreement } from '../../../redis/installation/installation.js'
import { type AclServer, aclServer } from '../../../redis/installation/permissions.js'
import { replayProblem } from '../../../redis/installation/replay.js'
import { unawaitedReplicas, watchReplicas } from '../../../redis/installation/replicas.js'
import { diskProblem, isTooOld } from '../../../redis/installation/server-state.js'
import { isOpenToAll, userFaults } from '../../../redis/installation/users.js'
import { keys } from '../../../redis/keys.js'
import { standingsOf } from '../../../redis/operator/restored-data.js'
import { factsOfServers } from '../../../redis/operator/servers.js'
import type { Config } from '../../../runtime/config.js'
import { type Check, healthOf } from '../../../runtime/health.js'
import { createLogger } from '../../../runtime/log.js'
import { certificateFinding } from './certificates.js'
import { attempt, type Finding, inquiry, notChecked, ok, problem, verdict, warning } from './finding.js'

const SET_SETTINGS = 'CONFIG SET what it names on that server, and write the same into its configuration file.'
const REWRITE = 'CONFIG SET auto-aof-rewrite-percentage 100, also in its configuration file, and BGREWRITEAOF.'
const BEFORE_RESTART = 'Do what the sentence says, before any restart of Redis (docs/REDIS.md, Users).'
const READ_ALL = 'Load ops/redis/durable.acl of this release (ACL LOAD).'
const SEE_RESTORE = '`operator installation show`; docs/OPERATIONS.md, Redis, says what to do.'
const HEAL_REPLICAS = 'Start the replicas, mend their link to the master, or correct WAIT_REPLICAS (docs/REDIS.md).'

/** All checks of the durable Redis that need no other part. `settings`: a connection that reads them, if `redis` does not. */
export async function checkDurable(redis: Redis, settings: Redis, config: Config): Promise<Finding[]> {
  const found = await Promise.all([
    attempt('durability', SET_SETTINGS, () => durabilityFindings(settings, config)),
    inquiry('disk of REDIS_URL', 'takes writes', 'Make room on its disk, or repair it.', () => diskProblem(redis)),
    inquiry('replay', 'a restart keeps every write', BEFORE_RESTART, () => replayProblem(redis)),
    attempt('replicas', HEAL_REPLICAS, () => replicaFindings(redis, config)),
    attempt('data', READ_ALL, () => dataFinding(redis, config)),
    inquiry('clock', 'as that of Redis', 'Set the wrong clock right (NTP).', () => clockWarning(redis), warning),
    inquiry('append-only file', 'rewritten as it grows', REWRITE, () => growth(settings), warning),
    checkUsers(redis, 'durable', config),
    checkServers(redis, 'REDIS_URL', config),
    checkLimit(redis, 'REDIS_URL', config)
  ])
  return found.flat()
}

/** Whether the data has all that was acknowledged. */
async function dataFinding(redis: Redis, { partitions }: Config): Promise<Finding> {
  const standings = await standingsOf(redis, partitions)
  const missing = standings.flatMap(({ vouch }) => vouch?.missing ?? [])
  if (missing.length > 0) return problem(DATA_PART, wentBackSentence(missing), SEE_RESTORE)
  const isUnvouched = standings.some(({ vouch }) => vouch?.standing === 'unvouched')
  if (isUnvouched) return warning(DATA_PART, UNVOUCHED, SEE_RESTORE)
  return ok(DATA_PART, 'has all that was acknowledged, as far as anything remembers')
}

/** By the check that processes have, and whether it could see every setting. */
async function durabilityFindings(settings: Redis, { acceptEverysec }: Config): Promise<Finding[]> {
  const check = 'durability'
  const [sentence, unread] = await Promise.all([
    durabilityProblem(settings, acceptEverysec === 'yes'),
    unreadSettings(settings, durableConditions)
  ])
  return verdict(
    check,
    'appended, synced, never evicted',
    sentence !== undefined && problem(check, sentence, SET_SETTINGS),
    unread.length > 0 && notRead(check, unread)
  )
}

/** The settings of these conditions that the user of a connection may not read. */
export async function unreadSettings(redis: Redis, conditions: readonly Condition[]): Promise<string[]> {
  const found = await Promise.all(mastersOf(redis).map(readSettings))
  return conditions
    .map(({ setting }) => setting)
    .filter(setting => setting !== SNAPSHOTS && found.some(known => !known.has(setting)))
}

/** Settings that only the user `doctor` may read. */
export function notRead(check: string, unread: readonly string[]): Finding {
  return notChecked(
    check,
    `This user may not read ${unread.join(', ')}.`,
    'Name the folder with the addresses of the user `doctor`: --logins FOLDER (docs/SECURITY.md, Redis). A service without CONFIG: see docs/REDIS.md, Managed services.'
  )
}

/** Whether the data is that of the settings. Resolves to null data when there is none that processes could use. */
export async function checkInstallation(
  redis: Redis,
  config: Config
): Promise<{ readonly installation: Installation | null; readonly findings: Finding[] }> {
  const check = 'environment'
  let installation: Installation | null = null
  const mend =
    'Correct SERVICE_ENV, INSTALLATION_ID or PARTITIONS, or point REDIS_URL at the Redis of this installation.'
  const findings = await attempt(check, mend, async () => {
    installation = await findInstallation(redis)
    if (installation === null) {
      return problem(
        check,
        'The Redis of REDIS_URL holds no data of an installation.',
        `${mend} On new servers: start \`payments\`.`
      )
    }
    const { environment, id, partitions } = requireAgreement(installation, config)
    return ok(check, `${environment}, installation ${id}, ${partitions} partitions`)
  })
  return { installation, findings }
}

/** The users of the ACL file, on a server of this release. */
export async function checkUsers(
  redis: Redis,
  server: AclServer,
  { environment }: Pick<Config, 'environment'>
): Promise<Finding[]> {
  const { file, variable } = aclServer(server)
  const check = `users of ${variable}`
  const mend = `Load ${file} of this release into every server (ACL LOAD): docs/SECURITY.md, Redis.`
  return await attempt(check, mend, async () => {
    const [{ missing, faults }, isOpen] = await Promise.all([userFaults(redis, server), isOpenToAll(redis)])
    // In the test environment one user may do everything.
    const isLive = environment === 'live'
    const lacking = `The server does not have: ${missing.join(', ')}.`
    return verdict(
      check,
      `as in ${file}`,
      isLive &&
        isOpen &&
        problem(check, 'A client without a password may read and write.', `${mend} Switch the user "default" off.`),
      missing.length > 0 && (isLive ? problem : notChecked)(check, lacking, mend),
      ...faults.flatMap(({ user, lacks, exceeds }) => [
        lacks.length > 0 && problem(check, `The user ${user} is not allowed: ${lacks.join(', ')}.`, mend),
        exceeds.length > 0 &&
          problem(check, `The user ${user} is allowed more than it needs: ${exceeds.join(', ')}.`, mend)
      ])
    )
  })
}

/** Version and certificate of each server. */
export async function checkServers(
  redis: Redis,
  variable: string,
  { environment }: Pick<Config, 'environment'>
): Promise<Finding[]> {
  const check = `version of ${variable}`
  return await attempt(check, `Let the user of ${variable} run INFO (ACL LOAD).`, async () =>
    (await factsOfServers(redis)).flatMap(({ name, version, certificateEndsMs }) => [
      versionFinding(check, name, version, environment),
      ...(certificateEndsMs === null ? [] : [certificateFinding(name, certificateEndsMs)])
    ])
  )
}

/** Of each line of Redis, the first patch against CVE-2026-81934: who reaches its TLS port needs no login. */
const SAFE_PATCHES: Readonly<Record<string, number>> = {
  '7.2': 16,
  '7.4': 11,
  '8.2': 9,
  '8.4': 6,
  '8.6': 6,
  '8.8': 2,
  '8.10': 1
}
/** Lines after these had it from the start. */
const NEWEST_LINE = [8, 10] as const

export function versionFinding(check: string, name: string, version: string, environment: Environment): Finding {
  const runs = `${name} runs Redis ${version}`
  if (isTooOld(version)) return problem(check, `${runs}.`, 'Bring it to Redis 7.0 or newer.')
  // In the test environment the Redis of the distribution will do.
  if (environment === 'test' || isPatched(version)) return ok(check, runs)
  const [line = ''] = /^\d+\.\d+/.exec(version) ?? []
  const patch = SAFE_PATCHES[line]
  const wanted =
    patch === undefined ? `a maintained line: ${Object.keys(SAFE_PATCHES).join(', ')}` : `${line}.${patch} or newer`
  return warning(
    check,
    `${runs}, which lacks security fixes, one of them against callers without a login (CVE-2026-81934).`,
    `Bring it to ${wanted} (docs/REDIS.md, Versions). A package of a distribution may have the fix under its old number: see its changelog.`
  )
}

function isPatched(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const known = SAFE_PATCHES[`${major}.${minor}`]
  if (known !== undefined) return patch >= known
  const [newestMajor, newestMinor] = NEWEST_LINE
  return major > newestMajor || (major === newestMajor && minor > newestMinor)
}

/** A server that is never rewritten again, or has not been for long. */
async function growth(settings: Redis): Promise<string | undefined> {
  const found = await Promise.all(
    mastersOf(settings).map(async node =>
      (await readSettings(node)).get(REWRITE_SETTING) === '0'
        ? `${nameOfServer(node)} has ${REWRITE_SETTING} 0, as during a backup: its file only grows.`
        : undefined
    )
  )
  return found.find(sentence => sentence !== undefined) ?? (await growthWarning(settings))
}

/** Whether a full server refuses writes before its machine is full. In the test environment the default will do. */
export async function checkLimit(
  redis: Redis,
  variable: string,
  { environment }: Pick<Config, 'environment'>
): Promise<Finding[]> {
  const check = `memory of ${variable}`
  return await attempt(check, `Let the user of ${variable} run INFO (ACL LOAD).`, async () => {
    const infos = await Promise.all(mastersOf(redis).map(async node => [nameOfServer(node), await node.info('memory')]))
    const unlimited = infos.flatMap(([name = '', info = '']) => (/^maxmemory:0\b/m.test(info) ? [name] : []))
    if (unlimited.length === 0) return ok(check, 'limited by maxmemory')
    const found = `maxmemory of ${unlimited.join(', ')} is 0: the kernel kills a Redis that needs more memory than there is.`
    if (environment === 'test') return ok(check, 'without a limit, in the test environment')
    return warning(
      check,
      found,
      'CONFIG SET maxmemory below half of the memory of the machine, also in its configuration file.'
    )
  })
}

/** Whether the workers are heard, and `timers`, which gives no name. */
export async function checkHeartbeats(redis: Redis, { takeoverAfterMs }: Config): Promise<Finding[]> {
  const lists = { payments: keys.heartbeats(), timers: keys.timersHeartbeats(), webhooks: keys.webhookHeartbeats() }
  const found = Object.entries(lists).map(([name, list]) =>
    attempt(`heartbeat of ${name}`, `Start \`${name}\`.`, async () => {
      const { size } = await livingConsumers(redis, takeoverAfterMs, list)
      const check = `heartbeat of ${name}`
      if (size > 0) return ok(check, name === 'timers' ? 'heard' : `${size} heard`)
      return problem(
        check,
        `No \`${name}\` was heard for ${takeoverAfterMs} ms.`,
        `Start \`${name}\`, or look at its log and /readyz.`
      )
    })
  )
  return (await Promise.all(found)).flat()
}

/** By the checks that processes have in /readyz. */
async function replicaFindings(redis: Redis, config: Config): Promise<Finding | Finding[]> {
  const count = config.waitReplicas
  if (count === 0) {
    const sentence = await unawaitedReplicas(redis)
    if (sentence !== undefined) return warning('replicas', sentence, HEAL_REPLICAS)
    return ok('replicas', 'none are waited for (WAIT_REPLICAS=0)')
  }
  const [problems, warnings] = [new Map<string, Check>(), new Map<string, Check>()]
  let stop: () => Promise<void> | void = () => undefined
  watchReplicas(redis, {
    config,
    log: createLogger('operator', 'silent'),
    onReadyCheck: (part, check) => void problems.set(part, check),
    onWarning: (part, check) => void warnings.set(part, check),
    onStop: (_, stopReplicas) => {
      stop = stopReplicas
    }
  })
  const health = await healthOf({ problems, warnings })
  await stop()
  return verdict(
    'replicas',
    `${count} in sync, as WAIT_REPLICAS asks`,
    ...Object.entries(health.problems).map(([part, text]) => problem(part, text, HEAL_REPLICAS)),
    ...Object.entries(health.warnings).map(([part, text]) => warning(part, text, HEAL_REPLICAS))
  )
}
