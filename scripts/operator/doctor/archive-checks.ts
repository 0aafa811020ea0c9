/** What `operator doctor` asks of the PostgreSQL of the archive, where there is one. */
import { ARCHIVE_FACT } from '../../../archive/archive.js'
import { type ArchiveFacts, mendOfRefusal, readArchiveFacts } from '../../../archive/facts.js'
import type { Redis } from '../../../redis/connection/connections.js'
import type { Config } from '../../../runtime/config.js'
import { messageOf } from '../../../runtime/message-of.js'
import { withTimeout } from '../../../runtime/with-timeout.js'
import { droppableFromMs } from '../periods.js'
import type { SeenProcess } from '../processes.js'
import { checkSample } from './archive-sample.js'
import { attempt, type Finding, firstOf, judged, notChecked, ok, problem, verdict, warning } from './finding.js'

const TIMEOUT_MS = 5_000
const VERSION_MIN = 14
const MEGABYTE = 1_000_000
const CHECK = 'archive'
const MEND = 'Start PostgreSQL, repair the connection to it, or correct ARCHIVE_URL (docs/ARCHIVE.md).'
const AUTHORITY =
  'Name the authority of its certificate in ARCHIVE_URL: sslrootcert=FILE (docs/ARCHIVE.md, Connection).'

type ArchiveConfig = Pick<Config, 'environment' | 'archiveRetentionYears'>
type SampleConfig = Pick<Config, 'partitions' | 'archiveTimeoutMs'>

/** `archiveUrl` '': without an archive nothing is checked, unless a process has one. */
export async function checkArchive(
  archiveUrl: string,
  redis: Redis,
  config: ArchiveConfig & SampleConfig,
  seen: readonly SeenProcess[],
  serviceMs: number
): Promise<Finding[]> {
  if (archiveUrl === '') {
    const user = seen.find(({ facts }) => ARCHIVE_FACT in facts)
    if (user === undefined) return []
    return [
      notChecked(
        CHECK,
        `${user.name} has an archive, and ARCHIVE_URL is not set here.`,
        'Give ARCHIVE_URL of `archive`.'
      )
    ]
  }
  const facts = await withTimeout(2 * TIMEOUT_MS, readArchiveFacts(archiveUrl, TIMEOUT_MS)).catch((error: unknown) =>
    problem(CHECK, messageOf(error), mendOfRefusal(error) ?? (/certificate/.test(messageOf(error)) ? AUTHORITY : MEND))
  )
  if ('check' in facts) return [facts]
  const found = judgeArchive(facts, archiveUrl, config, serviceMs)
  const sample = await attempt('payments in the archive', MEND, () => checkSample(archiveUrl, redis, config))
  return [...found, ...sample]
}

/** `serviceMs`: the time of the service, test clock included. */
export function judgeArchive(
  facts: ArchiveFacts,
  archiveUrl: string,
  { environment, archiveRetentionYears }: ArchiveConfig,
  serviceMs: number
): Finding[] {
  const megabytes = `${Math.ceil(facts.bytes / MEGABYTE)} MB`
  const found = [
    ok(CHECK, `answers as ${facts.user}, ${megabytes} in its database`),
    versionFinding(facts),
    ...durabilityFindings(facts),
    migrationFinding(facts),
    ...rightFindings(facts, archiveRetentionYears > 0),
    retentionFinding(facts, archiveRetentionYears, serviceMs)
  ]
  return environment === 'live' ? [...found, ...liveFindings(facts, archiveUrl)] : found
}

function versionFinding({ serverVersion }: ArchiveFacts): Finding {
  const major = Math.floor(serverVersion / 10_000)
  const sentence = major < VERSION_MIN ? `It runs PostgreSQL ${major}.` : undefined
  const mend = `Bring it to PostgreSQL ${VERSION_MIN} or newer.`
  return judged('version of the archive', sentence, `PostgreSQL ${major}`, mend)
}

function durabilityFindings({
  fsync,
  fullPageWrites,
  synchronousCommit,
  isStandby,
  isReadOnly
}: ArchiveFacts): Finding[] {
  const check = 'durability of the archive'
  const mend = 'Set it to on in postgresql.conf (ALTER SYSTEM), and reload: SELECT pg_reload_conf().'
  const lost = 'A crash of its machine may lose payments that have left Redis.'
  const own = 'synchronous_commit is off: the service sets it for its own writes, a restore does not.'
  const primary = 'Correct ARCHIVE_URL to name the primary, or promote this server.'
  const writable = 'Set default_transaction_read_only to off for the server, the database and the user, and reload.'
  return verdict(
    check,
    'synced',
    fsync !== 'on' && problem(check, `fsync is ${fsync}. ${lost}`, mend),
    fullPageWrites !== 'on' && problem(check, `full_page_writes is ${fullPageWrites}. ${lost}`, mend),
    synchronousCommit === 'off' && warning(check, own, mend),
    isStandby && problem(check, 'It is a standby, which takes no writes.', primary),
    isReadOnly && !isStandby && problem(check, 'It takes no writes (transaction_read_only).', writable)
  )
}

function migrationFinding({ missingMigrations }: ArchiveFacts): Finding {
  const check = 'tables of the archive'
  if (missingMigrations === null) {
    const found = 'The user may not read schema_migrations.'
    return notChecked(check, found, 'Give the ARCHIVE_URL of the process archive, whose user owns the tables.')
  }
  const sentence =
    missingMigrations.length > 0 ? `These migrations did not run: ${missingMigrations.join(', ')}.` : undefined
  return judged(check, sentence, 'those of this version', 'Start `archive` of this version, which runs them.')
}

function rightFindings({ user, userLacks, writerLacks, isOwner }: ArchiveFacts, mayDrop: boolean): Finding[] {
  const check = 'rights in the archive'
  const grant = 'As the owner of the tables, GRANT what the sentence names (docs/ARCHIVE.md, Users).'
  return verdict(
    check,
    isOwner ? 'owner of the tables' : 'reads and writes payments',
    userLacks.length > 0 && problem(check, `The user ${user} lacks ${userLacks.join(', ')}.`, grant),
    writerLacks !== null &&
      writerLacks.length > 0 &&
      problem(check, `The role archive_writer of \`api\` and \`payments\` lacks ${writerLacks.join(', ')}.`, grant),
    mayDrop &&
      !isOwner &&
      warning(
        check,
        `The user ${user} does not own the tables: \`archive export\` and \`archive drop\` need their owner.`,
        'Give operators the ARCHIVE_URL of the process archive.'
      )
  )
}

/** What only matters where payments are real. */
function liveFindings({ isSuperuser, isEncrypted, user }: ArchiveFacts, archiveUrl: string): Finding[] {
  const { hostname, searchParams } = new URL(archiveUrl)
  const isHere = ['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const superuser = isSuperuser ? `The user ${user} is a superuser.` : undefined
  const mend =
    'Add sslmode=verify-full&sslrootcert=FILE to ARCHIVE_URL, and ssl=on to the server (docs/ARCHIVE.md, Connection).'
  const tls =
    isHere || (isEncrypted && searchParams.get('sslmode') === 'verify-full')
      ? undefined
      : isEncrypted
        ? 'The connection is encrypted, but ARCHIVE_URL does not ask for sslmode=verify-full.'
        : 'The connection is not encrypted, and payments with names of buyers pass it.'
  return [
    judged(
      'user of the archive',
      superuser,
      'no superuser',
      'Use a user of its own, which owns the database only (docs/ARCHIVE.md, Users).'
    ),
    judged('TLS of the archive', tls, isHere ? 'on this machine' : 'encrypted and verified', mend)
  ]
}

function retentionFinding({ months }: ArchiveFacts, years: number, nowMs: number): Finding {
  const check = 'retention of the archive'
  if (years === 0) return ok(check, 'payments stay for ever (ARCHIVE_RETENTION_YEARS=0)')
  const due = months.filter(month => (droppableFromMs(month, years) ?? Number.POSITIVE_INFINITY) <= nowMs)
  if (due.length === 0) return ok(check, `no month is older than ${years} years`)
  const found = `Older than ${years} years: ${firstOf(due)}.`
  return warning(check, found, 'Export and drop each: `archive export MONTH --file FILE`, then `archive drop MONTH`.')
}
