/** Connections to the PostgreSQL of the archive: a small pool, a deadline for each answer, one error for each fault. */
import { Client, type ClientConfig, DatabaseError, Pool } from 'pg'
import type { Config } from '../runtime/config.js'
import { type Logger, warnRateLimited } from '../runtime/log.js'
import { ArchiveUnavailable } from './archive.js'

export type ArchiveSettings = Pick<Config, 'archiveUrl' | 'archiveTimeoutMs'>

/** Runs one statement. */
export type Ask = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface Postgres {
  /** Rejects with `ArchiveUnavailable` unless the statement itself is wrong. */
  readonly query: Ask
  /** Waits for running statements, and closes the connections. */
  close(): Promise<void>
}

/** Of one process. */
const CONNECTIONS_MAX = 4

/** Opens no connection before the first statement. */
export function openPostgres(settings: ArchiveSettings, logger: Logger): Postgres {
  const timeoutMs = settings.archiveTimeoutMs
  const pool = new Pool({
    connectionString: settings.archiveUrl,
    max: CONNECTIONS_MAX,
    // For a free connection; then for the answer. The server ends the statement, too, so that it holds no locks for long.
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    keepAlive: true,
    application_name: 'card-payments'
  })
  // Of connections that were idle: the pool opens new ones.
  pool.on('error', error => warnRateLimited(logger, { err: error }, 'lost a connection to the archive'))
  return {
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      try {
        const { rows } = await pool.query<Row>(text, [...values])
        return rows
      } catch (error) {
        throw isOurFault(error) ? error : new ArchiveUnavailable(explained(error))
      }
    },
    close: () => pool.end()
  }
}

/** The first digits of SQLSTATE: values that PostgreSQL does not take, and statements that it does not understand. */
const OUR_FAULTS = /^(22|23|42601|42804)/
/** A table, column or function that is not there. */
const OLD_SCHEMA = ['42P01', '42703', '42883']

function isOurFault(error: unknown): boolean {
  return error instanceof DatabaseError && OUR_FAULTS.test(error.code ?? '')
}

/**
 * Does `work` over a connection of its own, which ends with it. Rejects with `ArchiveUnavailable`, whose `cause` may be the
 * answer of the server.
 */
export async function withClient<T>(options: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(options)
  // A lost connection also rejects the running query.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw new ArchiveUnavailable(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The reason in words of an operator. */
export function explained(error: unknown): unknown {
  if (!(error instanceof DatabaseError && OLD_SCHEMA.includes(error.code ?? ''))) return error
  return new Error(
    'The tables of the archive are older than this version. Start the process archive, which updates them.',
    {
      cause: error
    }
  )
}
