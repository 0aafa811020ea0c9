/** The months of the archive, for operators: what is in each, exports, and its end after the retention (decision 28). */
import { Client, DatabaseError, escapeIdentifier } from 'pg'
import { ArchiveUnavailable } from './archive.js'
import { lostOf } from './lost-payments.js'
import { type Ask, explained } from './postgres.js'

/** A month as `2024-03`: its payments were created then, in UTC. */
export type Month = string

export interface MonthExport {
  readonly exportedAtMs: number
  readonly payments: number
  /** Of the file. */
  readonly sha256: string
  /** Null: the month is still there, or is there again. */
  readonly droppedAtMs: number | null
}

export interface ArchivedMonth {
  readonly month: Month
  readonly payments: number
  /** On the disk, with indexes. */
  readonly bytes: number
  /** Creation of the oldest and of the newest payment; null without any. */
  readonly oldestMs: number | null
  readonly newestMs: number | null
  /** Payments that have come back to Redis, and have not left it again. */
  readonly returned: number
  /** The newest one; null: the month was never exported. */
  readonly lastExport: MonthExport | null
  /** Whether that export has exactly the rows of now. False without one. */
  readonly isExported: boolean
}

/** What an export has: the sum of its row hashes shows whether the month has changed since. */
export interface MonthContent {
  readonly payments: number
  readonly fingerprint: bigint
}

/** A month at one moment. */
export interface MonthSnapshot {
  readonly payments: number
  /** All columns of each payment as JSON, in the order of ids. */
  pages(): AsyncGenerator<{ readonly lines: readonly string[]; readonly fingerprint: bigint }>
}

export type Dropping =
  | { readonly kind: 'dropped'; readonly month: ArchivedMonth }
  | { readonly kind: 'changed' | 'never_exported' | 'absent'; readonly month: ArchivedMonth | null }

export interface ArchiveMonths {
  /** Oldest first: those that have a partition, and those that were exported and are not there any more. */
  list(): Promise<Month[]>
  /** Reads the whole month, which takes minutes for a large one. Null: it was never there. No partition: zeros. */
  show(month: Month): Promise<ArchivedMonth | null>
  /** Runs `work` on a month as it is now: later writes are not seen. Null: there is no such month. */
  read<Result>(month: Month, work: (snapshot: MonthSnapshot) => Promise<Result>): Promise<Result | null>
  noteExport(month: Month, content: MonthContent & { readonly sha256: string }): Promise<void>
  /** As `PaymentArchive.lostOf`. */
  lostOf(paymentIds: readonly string[]): Promise<readonly string[]>
  /** The newest payment that is older than this one; null: there is none. */
  newestBefore(paymentId: string): Promise<string | null>
  /** Removes a month for ever, unless its newest export lacks something of it. Waits at most 2 s for the locks of others. */
  drop(month: Month): Promise<Dropping>
  close(): Promise<void>
}

/** Few enough that a page of the largest payments is 25 MB. */
const PAGE_ROWS = 500
/** A statement of `api` that waits behind the drop has a deadline of 2 s, too. */
const LOCK_TIMEOUT_MS = 2_000

/** One connection without a deadline for statements. Rejects with `ArchiveUnavailable`, as all methods do. */
export async function openArchiveMonths(archiveUrl: string, connectTimeoutMs: number): Promise<ArchiveMonths> {
  const client = new Client({
    connectionString: archiveUrl,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'card-payments operator'
  })
  // A lost connection also rejects the running query.
  client.on('error', () => undefined)
  const ask: Ask = async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    try {
      return (await client.query<Row>(text, [...values])).rows
    } catch (error) {
      throw new ArchiveUnavailable(withAdvice(error))
    }
  }
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => undefined)
    throw new ArchiveUnavailable(explained(error))
  }
  const reading = 'ISOLATION LEVEL REPEATABLE READ READ ONLY'
  return {
    list: async () => (await ask<{ month: Month }>(MONTHS)).map(({ month }) => month),
    show: month => inTransaction(ask, reading, () => show(ask, month)),
    read: (month, work) =>
      inTransaction(ask, reading, async () => {
        const payments = await count(ask, month)
        return payments === null ? null : await work({ payments, pages: () => pages(ask, month) })
      }),
    async noteExport(month, { payments, fingerprint, sha256 }) {
      const values = [firstDay(month), payments, String(fingerprint), sha256]
      await ask('INSERT INTO exports (month, payments, fingerprint, sha256) VALUES ($1, $2, $3, $4)', values)
    },
    lostOf: paymentIds => lostOf(ask, paymentIds),
    newestBefore: async paymentId =>
      (await ask<{ id: string }>('SELECT id FROM payments WHERE id < $1 ORDER BY id DESC LIMIT 1', [paymentId]))[0]
        ?.id ?? null,
    drop: month => inTransaction(ask, 'ISOLATION LEVEL READ COMMITTED', () => drop(ask, month)),
    close: () => client.end()
  }
}

/** The text of a row depends on settings of the connection, and so does its hash. */
async function inTransaction<Result>(ask: Ask, mode: string, work: () => Promise<Result>): Promise<Result> {
  await ask(`BEGIN ${mode}`)
  try {
    await ask(`SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL statement_timeout = 0`)
    const result = await work()
    await ask('COMMIT')
    return result
  } catch (error) {
    await ask('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** The months that have a partition, as the column `month`. */
export const PARTITION_MONTHS = `SELECT replace(right(relname, 7), '_', '-') AS month
  FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = to_regclass('payments')`
const MONTHS = `${PARTITION_MONTHS} UNION SELECT to_char(month, 'YYYY-MM') FROM exports ORDER BY month`
/** PostgreSQL looks into the partition of the month only. */
const OF_MONTH = 'id >= first_payment_id($1) AND id < first_payment_id($2)'
const LAST_EXPORT = `SELECT exported_at, payments::float8 AS payments, fingerprint::text AS fingerprint, sha256, dropped_at
  FROM exports WHERE month = $1 ORDER BY exported_at DESC LIMIT 1`
const CONTENT = `SELECT count(*)::float8 AS payments, min(created_at) AS oldest, max(created_at) AS newest,
    count(returned_at)::float8 AS returned,
    coalesce(sum(hashtextextended(stored::text, 0)::numeric), 0)::text AS fingerprint
  FROM payments AS stored WHERE ${OF_MONTH}`
const COUNT = `SELECT count(*)::float8 AS payments FROM payments WHERE ${OF_MONTH}`
const PAGE = `SELECT id, row_to_json(stored)::text AS line, hashtextextended(stored::text, 0)::text AS hash
  FROM payments AS stored WHERE ${OF_MONTH} AND id > $3 ORDER BY id LIMIT ${PAGE_ROWS}`
const NOTE_DROP = `UPDATE exports SET dropped_at = now() WHERE month = $1
  AND exported_at = (SELECT max(exported_at) FROM exports WHERE month = $1)`
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

interface ContentRow {
  payments: number
  oldest: Date | null
  newest: Date | null
  returned: number
  fingerprint: string
}

interface ExportRow {
  exported_at: Date
  payments: number
  fingerprint: string
  sha256: string
  dropped_at: Date | null
}

/** Null: there is neither a partition nor an export of one. */
async function show(ask: Ask, month: Month): Promise<ArchivedMonth | null> {
  const bytes = await sizeOf(ask, month)
  const [exported] = await ask<ExportRow>(LAST_EXPORT, [firstDay(month)])
  if (bytes === null && exported === undefined) return null
  const [content] = bytes === null ? [] : await ask<ContentRow>(CONTENT, rangeOf(month))
  return {
    month,
    payments: content?.payments ?? 0,
    bytes: bytes ?? 0,
    oldestMs: content?.oldest?.getTime() ?? null,
    newestMs: content?.newest?.getTime() ?? null,
    returned: content?.returned ?? 0,
    lastExport:
      exported === undefined
        ? null
        : {
            exportedAtMs: exported.exported_at.getTime(),
            payments: exported.payments,
            sha256: exported.sha256,
            droppedAtMs: exported.dropped_at?.getTime() ?? null
          },
    isExported: content !== undefined && content.fingerprint === exported?.fingerprint
  }
}

/** With its indexes, in bytes. Null: there is no partition of the month. */
async function sizeOf(ask: Ask, month: Month): Promise<number | null> {
  const [row] = await ask<{ bytes: number | null }>('SELECT pg_total_relation_size(to_regclass($1))::float8 AS bytes', [
    partitionOf(month)
  ])
  return row?.bytes ?? null
}

async function count(ask: Ask, month: Month): Promise<number | null> {
  if ((await sizeOf(ask, month)) === null) return null
  const [row] = await ask<{ payments: number }>(COUNT, rangeOf(month))
  return row?.payments ?? null
}

async function* pages(ask: Ask, month: Month): ReturnType<MonthSnapshot['pages']> {
  let afterId: string | undefined = FIRST_ID
  while (afterId !== undefined) {
    const rows: { id: string; line: string; hash: string }[] = await ask(PAGE, [...rangeOf(month), afterId])
    yield { lines: rows.map(({ line }) => line), fingerprint: rows.reduce((sum, { hash }) => sum + BigInt(hash), 0n) }
    afterId = rows.at(-1)?.id
  }
}

/** From the comparison to the commit no row of the month changes. Reads continue until the table is dropped. */
async function drop(ask: Ask, month: Month): Promise<Dropping> {
  if ((await sizeOf(ask, month)) === null) return { kind: 'absent', month: await show(ask, month) }
  const table = escapeIdentifier(partitionOf(month))
  await ask(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await ask(`LOCK TABLE ${table} IN SHARE MODE`)
  const found = await show(ask, month)
  if (found === null || found.lastExport === null) return { kind: 'never_exported', month: found }
  if (!found.isExported) return { kind: 'changed', month: found }
  await ask(`DROP TABLE ${table}`)
  await ask(NOTE_DROP, [firstDay(month)])
  return { kind: 'dropped', month: found }
}

/** As `add_months_of` names it. */
function partitionOf(month: Month): string {
  return `payments_${month.replace('-', '_')}`
}

function firstDay(month: Month): string {
  return `${month}-01`
}

function rangeOf(month: Month): [from: string, to: string] {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return [`${firstDay(month)}T00:00:00Z`, new Date(Date.UTC(year, number, 1)).toISOString()]
}

/** SQLSTATE: the user has not the rights; others hold locks. */
const INSUFFICIENT_PRIVILEGE = '42501'
const IN_USE = ['55P03', '40P01']

function withAdvice(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return explained(error)
  if (error.code === INSUFFICIENT_PRIVILEGE) {
    const advice = 'This needs the owner of the tables: the ARCHIVE_URL of the process archive.'
    return new Error(`${error.message}. ${advice}`, { cause: error })
  }
  if (IN_USE.includes(error.code ?? '')) {
    return new Error(`other statements use this month. Nothing was changed: repeat this later (${error.message}).`, {
      cause: error
    })
  }
  return explained(error)
}
