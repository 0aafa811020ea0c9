/** What `operator doctor` asks of the ops ports of the processes: health, installation, keys, versions. */
import { ARCHIVE_FACT } from '../../../archive/archive.js'
import { type KeyKind, keyFact } from '../../../redis/installation/key-record.js'
import type { Config } from '../../../runtime/config.js'
import { everyProcess } from '../../../runtime/setting.js'
import { version as ownVersion } from '../../../runtime/version.js'
import type { SeenProcess, SilentAddress } from '../processes.js'
import { parseSeries } from '../series.js'
import { type Finding, notChecked, problem, verdict, warning } from './finding.js'

const GIVE_ADDRESSES = 'Give the ops address of every process: --ops http://HOST:OPS_PORT,…'
const SEE_PARTS = 'Do what the sentence says; docs/OPERATIONS.md, Problems and warnings, says more of some.'

/** The simulator is no part of an installation; the archive of some. */
function wantedBeside(seen: readonly SeenProcess[]): string[] {
  return everyProcess.filter(name => name !== 'network' && (name !== 'archive' || hasArchive(seen)))
}

function hasArchive(seen: readonly SeenProcess[]): boolean {
  return seen.some(({ facts }) => ARCHIVE_FACT in facts)
}

/** Processes that would answer that an archived payment does not exist. */
function withoutArchive(seen: readonly SeenProcess[]): SeenProcess[] {
  const users = seen.filter(({ process }) => process === 'api' || process === 'payments')
  return hasArchive(seen) ? users.filter(({ facts }) => !(ARCHIVE_FACT in facts)) : []
}

/** A finding for each address without an answer. */
export function checkAddresses(silent: readonly SilentAddress[]): Finding[] {
  const mend =
    'Start the process. Does it end at once? The last line of its log says why, such as a wrong SERVICE_ENV (journalctl -u card-payments-…). Does it run? Correct its OPS_HOST and OPS_PORT, or --ops.'
  return silent.map(({ url, why }) => problem('processes', `${url} does not answer as an ops port (${why}).`, mend))
}

/**
 * Whether each process of the Procfile answers, can work, and has nothing to say. `known`: what this command has found by
 * itself, such as a server that does not answer, is no finding of each process, too.
 */
export function checkProcesses(seen: readonly SeenProcess[], isAsked: boolean, known: readonly Finding[]): Finding[] {
  if (!isAsked) return [notChecked('processes', 'No ops address is known.', GIVE_ADDRESSES)]
  const missing = wantedBeside(seen)
    .filter(name => !seen.some(({ process }) => process === name))
    .map(name => problem('processes', `No \`${name}\` answers.`, `Start \`${name}\`, or add its ops address to --ops.`))
  const reported = [
    ...reportedAs(problem, seen, ({ problems }) => problems),
    ...reportedAs(warning, seen, ({ warnings }) => warnings)
  ].filter(({ check }) => !known.some(one => one.check === check && one.state === 'problem'))
  const blind = withoutArchive(seen).map(({ name }) =>
    problem(
      'archive',
      `${name} has no ARCHIVE_URL, and other processes have: it does not find archived payments.`,
      'Give every `api`, `payments` and `archive` the same ARCHIVE_URL, and restart it.'
    )
  )
  return verdict('processes', `${seen.length} ready`, ...missing, ...blind, ...reported)
}

/** A finding for each sentence of /readyz, with the processes that say it. */
function reportedAs(
  fault: typeof problem,
  seen: readonly SeenProcess[],
  partsOf: (process: SeenProcess) => Readonly<Record<string, string>>
): Finding[] {
  const reports = new Map<string, { part: string; text: string; names: string[] }>()
  for (const process of seen) {
    for (const [part, text] of Object.entries(partsOf(process))) {
      const report = reports.get(`${part}: ${text}`) ?? { part, text, names: [] }
      reports.set(`${part}: ${text}`, report)
      report.names.push(process.name)
    }
  }
  return [...reports.values()].map(({ part, text, names }) => fault(part, `${names.join(', ')}: ${text}`, SEE_PARTS))
}

/** Whether all processes work on the installation that this command sees. */
export function checkSameInstallation(seen: readonly SeenProcess[], id: string): Finding[] {
  return seen
    .filter(({ facts }) => facts['installation'] !== undefined && facts['installation'] !== id)
    .map(({ name, facts }) =>
      problem(
        `${name}: installation`,
        `It works on installation ${facts['installation']}, and REDIS_URL of this command is ${id}.`,
        'Correct REDIS_URL of the one that is wrong, or ask only the processes of one installation.'
      )
    )
}

/** Whether all processes use the newest key that Redis has recorded. `recorded`: the newest last. */
export function checkKeys(seen: readonly SeenProcess[], kind: KeyKind, recorded: readonly string[]): Finding[] {
  const check = `${kind} keys`
  const newest = recorded.at(-1)
  if (newest === undefined) {
    const first = kind === 'vault' ? '`payments`' : '`api`'
    return [problem(check, `No ${kind} key is recorded in Redis.`, `Start ${first}, which records its key.`)]
  }
  const users = seen.flatMap(({ name, facts }) => {
    const key = facts[keyFact(kind)]
    return key === undefined ? [] : [{ name, key }]
  })
  if (users.length === 0)
    return [notChecked(check, `Redis has recorded ${newest}; no process reports its own.`, GIVE_ADDRESSES)]
  const old = users.filter(({ key }) => key !== newest)
  const rotation = 'End that rotation, or bring it the file of the last rotation (docs/SECURITY.md).'
  const ownFile = 'Give it the key file of this installation (docs/SECURITY.md).'
  return verdict(
    check,
    `${newest} in ${users.length} processes`,
    ...old.map(({ name, key }) =>
      recorded.includes(key)
        ? warning(check, `${name} uses ${key}; the newest is ${newest}.`, rotation)
        : problem(check, `${name} uses ${key}, which is no key of this installation.`, ownFile)
    )
  )
}

/**
 * Whether all processes are of one release, on a Node that is not too old for it. `supported`: of package.json, the oldest
 * first, such as `^20.19 || ^22.12`. Of a newer Node that no test runs on, each process warns itself.
 */
export function checkVersions(seen: readonly SeenProcess[], supported: string): Finding[] {
  const own = [{ name: 'this command', version: ownVersion, node: process.version }]
  const builds = [...own, ...seen.map(({ name, metrics }) => ({ name, ...buildOf(metrics) }))]
  const old = builds.filter(({ node }) => node !== null && !isAtLeast(node, supported))
  const versions = [...new Set(builds.map(({ version }) => version).filter(version => version !== null))]
  return [
    ...verdict(
      'version of Node',
      [...new Set(builds.map(({ node }) => node))].join(', '),
      ...old.map(({ name, node }) =>
        problem('version of Node', `${name} runs on Node ${node}.`, `Bring it to Node ${supported}.`)
      )
    ),
    ...verdict(
      'versions',
      versions.join(),
      versions.length > 1 &&
        warning(
          'versions',
          `Not all are of one release: ${versions.map(version => `${version} (${namesOf(builds, version)})`).join(', ')}.`,
          'Restart the processes of the older version, and use its own operator command.'
        )
    )
  ]
}

/** Lines of Node, and since when they get no security fixes. */
const ENDED: Readonly<Record<string, string>> = { v20: '2026-04-30' }

/** Processes on a line of Node without security fixes. In the test environment it will do. */
export function checkSupport(seen: readonly SeenProcess[], { environment }: Pick<Config, 'environment'>): Finding[] {
  const check = 'support of Node'
  if (environment === 'test') return []
  const nodes = seen.map(({ name, metrics }) => ({ name, node: buildOf(metrics).node ?? '' }))
  const ended = nodes.flatMap(({ name, node }) => {
    const since = ENDED[node.split('.')[0] ?? '']
    return since === undefined ? [] : [`${name} runs on ${node}, without security fixes since ${since}`]
  })
  const mend = 'Bring it to Node 24, and restart the processes one after the other.'
  return verdict(check, 'maintained lines', ended.length > 0 && warning(check, `${ended.join('; ')}.`, mend))
}

function namesOf(builds: readonly { name: string; version: string | null }[], wanted: string | null): string {
  return builds.flatMap(({ name, version }) => (version === wanted ? [name] : [])).join(', ')
}

function buildOf(metrics: string): { version: string | null; node: string | null } {
  const labels = parseSeries(metrics).find(({ name }) => name === 'card_payments_build_info')?.labels
  return { version: labels?.get('version') ?? null, node: labels?.get('node') ?? null }
}

function isAtLeast(version: string, supported: string): boolean {
  const numbers = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number)
  const [[major = 0, minor = 0], [wantedMajor = 0, wantedMinor = 0]] = [numbers(version), numbers(supported)]
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)
}
