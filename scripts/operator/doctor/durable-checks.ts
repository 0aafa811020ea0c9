/** What `operator doctor` asks of the durable Redis: what its processes may not read, and its users. */
import type { Environment } from '../../../machines/model.js'
import { nameOfServer } from '../../../redis/connection/cluster-masters.js'
import { mastersOf } from '../../../redis/connection/cluster-nodes.js'
import type { Redis } from '../../../redis/connection/connections.js'
import type { DataServer } from '../../../redis/connection/redis-errors.js'
import { infoField } from '../../../redis/connection/reply-fields.js'
import { aclFileOf } from '../../../redis/installation/acl-rights.js'
import { type Condition, durableConditions, readSettings, SNAPSHOTS } from '../../../redis/installation/conditions.js'
import { durabilityProblem } from '../../../redis/installation/durability.js'
import { findInstallation, type Installation, requireAgreement } from '../../../redis/installation/installation.js'
import { isTooOld, versionOf } from '../../../redis/installation/server-state.js'
import { isOpenToAll, userFaults } from '../../../redis/installation/users.js'
import type { Config } from '../../../runtime/config.js'
import { certificateFinding } from './certificates.js'
import { attempt, type Finding, notChecked, ok, problem, verdict, warning } from './finding.js'

const SET_SETTINGS = 'CONFIG SET what it names on that server, and write the same into its configuration file.'
/** What processes do not see of the durable Redis. `settings`: a connection that reads them, if `redis` does not. */
export async function checkDurable(redis: Redis, settings: Redis, config: Config): Promise<Finding[]> {
  const found = await Promise.all([
    attempt('durability', SET_SETTINGS, () => durabilityFindings(settings, config)),
    checkUsers(redis, 'REDIS_URL', config),
    checkServers(redis, 'REDIS_URL', config),
    checkLimit(redis, 'REDIS_URL', config)
  ])
  return found.flat()
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
    .filter(setting => setting !== SNAPSHOTS && found.some(known => known.get(setting) === undefined))
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
  server: DataServer,
  { environment }: Pick<Config, 'environment'>
): Promise<Finding[]> {
  const file = aclFileOf(server)
  const check = `users of ${server}`
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
  return await attempt(check, `Let the user of ${variable} run INFO (ACL LOAD).`, async () => {
    const found = mastersOf(redis).map(async node => {
      const { stream } = node
      const name = nameOfServer(node)
      const ends = 'getPeerCertificate' in stream ? [Date.parse(stream.getPeerCertificate().valid_to)] : []
      return [
        versionFinding(check, name, await versionOf(node), environment),
        ...ends.map(endsMs => certificateFinding(name, endsMs))
      ]
    })
    return (await Promise.all(found)).flat()
  })
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

/** Whether a full server refuses writes before its machine is full. In the test environment the default will do. */
export async function checkLimit(
  redis: Redis,
  variable: string,
  { environment }: Pick<Config, 'environment'>
): Promise<Finding[]> {
  const check = `memory of ${variable}`
  return await attempt(check, `Let the user of ${variable} run INFO (ACL LOAD).`, async () => {
    const infos = await Promise.all(mastersOf(redis).map(async node => [nameOfServer(node), await node.info('memory')]))
    const unlimited = infos.flatMap(([name = '', info = '']) => (infoField(info, 'maxmemory') === '0' ? [name] : []))
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
