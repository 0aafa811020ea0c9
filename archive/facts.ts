/** Facts about the PostgreSQL of the archive, which `operator doctor` judges. */
import { type Client, DatabaseError } from 'pg'
import { ArchiveUnavailable } from './archive.js'
import { migrationNames, missingMigrations } from './migrate.js'
import { type Month, PARTITION_MONTHS } from './months.js'
import { explained, withClient } from './postgres.js'

export interface ArchiveFacts {
  readonly user: string
  /** Such as 150013. */
  readonly serverVersion: number
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  /** It replays what another server writes, and takes no writes itself. */
  readonly isStandby: boolean
  /** It takes no writes, as a standby, or by its settings. */
  readonly isReadOnly: boolean
  readonly isSuperuser: boolean
  /** The connection from the server to us, or to the pooler between. */
  readonly isEncrypted: boolean
  /** Of the database on the disk. */
  readonly bytes: number
  /** Migrations of this version that did not run here; null: the user may not read which ran. */
  readonly missingMigrations: readonly string[] | null
  /** What the user lacks to write payments; empty also while there is no table. */
  readonly userLacks: readonly string[]
  /** The same of the role `archive_writer`; null: there is no such role, or no table. */
  readonly writerLacks: readonly string[] | null
  /** That have a partition, oldest first. */
  readonly months: readonly Month[]
  /** Exports and drops need it. */
  readonly isOwner: boolean
}

const SERVER = `SELECT current_user AS "user", current_setting('server_version_num')::int AS "serverVersion",
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS "fullPageWrites",
    current_setting('synchronous_commit') AS "synchronousCommit", pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "isSuperuser",
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
    pg_database_size(current_database())::float8 AS bytes,
    has_table_privilege(to_regclass('schema_migrations'), 'SELECT') AS "readsMigrations",
    to_regclass('payments') IS NOT NULL AS "hasTable",
    to_regrole('archive_writer') IS NOT NULL AS "hasWriter"`
const OWNER = `SELECT pg_has_role(relowner, 'USAGE') AS "isOwner" FROM pg_class WHERE oid = 'payments'::regclass`
const LACKS = `SELECT unnest(ARRAY[
    CASE WHEN NOT has_table_privilege($1, 'payments', 'SELECT') THEN 'SELECT on payments' END,
    CASE WHEN NOT has_table_privilege($1, 'payments', 'INSERT') THEN 'INSERT on payments' END,
    CASE WHEN NOT has_table_privilege($1, 'payments', 'UPDATE') THEN 'UPDATE on payments' END,
    CASE WHEN NOT has_function_privilege($1, 'add_months_of(uuid[])', 'EXECUTE') THEN 'EXECUTE on add_months_of' END
  ]) AS lack`

interface ServerRow
  extends Omit<ArchiveFacts, 'missingMigrations' | 'userLacks' | 'writerLacks' | 'months' | 'isOwner'> {
  /** Null: no migration ran. */
  readonly readsMigrations: boolean | null
  readonly hasTable: boolean
  readonly hasWriter: boolean
}

/** Connects, asks, and disconnects. Rejects with `ArchiveUnavailable`, whose `cause` may be the answer of the server. */
export async function readArchiveFacts(archiveUrl: string, timeoutMs: number): Promise<ArchiveFacts> {
  const options = {
    connectionString: archiveUrl,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'card-payments doctor'
  }
  return await withClient(options, client =>
    factsOf(client).catch((error: unknown) => {
      throw explained(error)
    })
  )
}

async function factsOf(client: Client): Promise<ArchiveFacts> {
  const { readsMigrations, hasTable, hasWriter, ...server } = await oneOf<ServerRow>(client, SERVER)
  const lacksOf = async (role: string): Promise<string[]> => {
    const { rows } = await client.query<{ lack: string | null }>(LACKS, [role])
    return rows.flatMap(({ lack }) => lack ?? [])
  }
  return {
    ...server,
    missingMigrations:
      readsMigrations === null ? migrationNames() : readsMigrations ? await missingMigrations(client) : null,
    userLacks: hasTable ? await lacksOf(server.user) : [],
    writerLacks: hasTable && hasWriter ? await lacksOf('archive_writer') : null,
    months: (await client.query<{ month: Month }>(`${PARTITION_MONTHS} ORDER BY 1`)).rows.map(({ month }) => month),
    isOwner: hasTable && (await oneOf<{ isOwner: boolean }>(client, OWNER)).isOwner
  }
}

async function oneOf<Row extends object>(client: Client, statement: string): Promise<Row> {
  const [row] = (await client.query<Row>(statement)).rows
  if (row === undefined) throw new Error('PostgreSQL gave no answer')
  return row
}

/** Errors that need another address, user or database. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'Correct user and password in ARCHIVE_URL, or give the user this password (ALTER ROLE … PASSWORD).',
  '28000': 'Correct the user in ARCHIVE_URL, or let it in (pg_hba.conf).',
  '3D000': 'Make the database, or correct its name in ARCHIVE_URL (docs/ARCHIVE.md, Users).'
}

/** What to do about a server that refuses the connection; undefined: it is not that. */
export function mendOfRefusal(error: unknown): string | undefined {
  const cause = error instanceof ArchiveUnavailable ? error.cause : undefined
  return cause instanceof DatabaseError ? REFUSALS[cause.code ?? ''] : undefined
}
