/** The archive in PostgreSQL (decision 28). Each call is one statement, and so one transaction. */
import { DatabaseError } from 'pg'
import { DAY_MS } from '../machines/durations.js'
import { lastChangeMs, type Payment } from '../machines/model.js'
import { moneyMoves } from '../machines/money-moves.js'
import { createdAtMs, firstPaymentKeyAt, paymentIdOfKey, paymentKeyOf } from '../redis/keys.js'
import { type ListQuery, PAGE_CHARACTERS_MAX } from '../redis/payments/list-payments.js'
import { decodePayment, encodePayment } from '../redis/payments/payment-record.js'
import type { Logger } from '../runtime/log.js'
import { ArchiveUnavailable, type PaymentArchive } from './archive.js'
import { lostOf } from './lost-payments.js'
import { migrate } from './migrate.js'
import { type ArchiveSettings, openPostgres, type Postgres } from './postgres.js'

export interface PostgresArchive extends PaymentArchive {
  /** Brings the tables to this version. For the process `archive`, at its start. */
  migrate(): Promise<string[]>
  /** Rejects with `ArchiveUnavailable` when it gives no answer in time. */
  ping(): Promise<void>
  /** Waits for running statements, and closes the connections. */
  close(): Promise<void>
}

/** Opens no connection before it is asked for something. */
export function createPostgresArchive(settings: ArchiveSettings, logger: Logger): PostgresArchive {
  const postgres = openPostgres(settings, logger)
  const recordFor = async (statement: string, paymentId: string): Promise<Payment | null> => {
    const [row] = await postgres.query<{ record: string }>(statement, [paymentId])
    return row === undefined ? null : decodePayment(row.record, paymentKeyOf(paymentId))
  }
  return {
    put: payments => put(postgres, payments),
    find: paymentId => recordFor('SELECT record FROM payments WHERE id = $1', paymentId),
    takeBack: paymentId => recordFor(TAKE_BACK, paymentId),
    list: (query, signal) => list(postgres, query, signal),
    async findBySale(saleId) {
      const [row] = await postgres.query<{ id: string }>('SELECT id FROM payments WHERE sale_id = $1', [saleId])
      return row?.id ?? null
    },
    lostOf: paymentIds => lostOf(postgres.query, paymentIds),
    async ping() {
      const [server] = await postgres.query<{ isReadOnly: boolean }>(READ_ONLY)
      if (server?.isReadOnly) throw new ArchiveUnavailable(new Error('it takes no writes (transaction_read_only)'))
    },
    migrate: () => migrate(settings.archiveUrl, settings.archiveTimeoutMs),
    close: () => postgres.close()
  }
}

/** Also of a standby. */
const READ_ONLY = `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"`

/**
 * Part of each statement that writes, which has to read from it: the answer waits for the disk, also with another default
 * of the server. A setting of the connection would get lost in a pooler between us and the server.
 */
const DURABLE = `durable AS (
  SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)
)`

/** An UPDATE locks the newest version of the row; a SELECT might show an older one. */
const TAKE_BACK = `WITH ${DURABLE} UPDATE payments SET returned_at = now() FROM durable WHERE id = $1 RETURNING record`

/** The columns that come from the payment. */
function rowOf(payment: Payment) {
  const { version, terms, progress } = payment
  const { references } = progress
  return {
    id: terms.id,
    merchant_id: terms.merchantId,
    status: progress.status,
    external_reference: terms.externalReference,
    created_at: time(terms.createdAtMs),
    changed_at: time(lastChangeMs(payment)),
    amount_cents: terms.amountCents,
    captured_cents: progress.capturedCents,
    refunded_cents: progress.refundedCents,
    installments: terms.installments,
    brand: terms.card.brand,
    last4: terms.card.last4,
    capture_mode: terms.captureMode,
    sale_id: references.saleId,
    tid: references.tid,
    nsu: references.nsu,
    authorization_code: references.authorizationCode,
    declined_code: progress.declinedCode,
    authorized_at: time(progress.authorizedAtMs),
    captured_at: time(progress.capturedAtMs),
    canceled_at: time(progress.canceledAtMs),
    refunded_at: time(progress.refundedAtMs),
    version,
    money_moves: moneyMoves(payment).map(({ type, atMs, amountCents, idempotencyKey }) => ({
      type,
      occurred_at: time(atMs),
      amount_cents: amountCents,
      idempotency_key: idempotencyKey
    })),
    record: encodePayment(payment)
  }
}

function time(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}

/**
 * A payment that changed so much later than the row replaces it, also with a lower version: Redis was restored from a backup of
 * before the row, and the payment was compared with the acquirer since. Longer than clocks are apart.
 */
const LATER = '1 hour'

/** In the order of ids: two calls for the same payments wait for each other, and never in a circle. */
function putStatement(columns: readonly string[]): string {
  return `WITH ${DURABLE}
    INSERT INTO payments AS stored (${columns}, archived_at)
    SELECT ${columns.map(column => `given.${column}`)}, now()
    FROM json_populate_recordset(NULL::payments, $1) AS given, durable ORDER BY given.id
    ON CONFLICT (id) DO UPDATE SET ${columns.map(column => `${column} = excluded.${column}`)},
      archived_at = excluded.archived_at, returned_at = NULL
    WHERE stored.version <= excluded.version OR stored.changed_at < excluded.changed_at - interval '${LATER}'`
}

/** PostgreSQL has no zero in its text, and no half of a character. The record has neither: it is JSON, which escapes them. */
function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/[\0\p{Surrogate}]/gu, '\ufffd') : value
}

/** SQLSTATE of a row for which there is no partition. */
const CHECK_VIOLATION = '23514'

async function put(postgres: Postgres, payments: readonly Payment[]): Promise<void> {
  const rows = payments.map(rowOf)
  const [first] = rows
  if (first === undefined) return
  const insert = (): Promise<unknown> =>
    postgres.query(putStatement(Object.keys(first)), [JSON.stringify(rows, storable)])
  try {
    await insert()
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === CHECK_VIOLATION)) throw error
    await postgres.query('SELECT add_months_of($1)', [rows.map(({ id }) => id)])
    await insert()
  }
}

/** The statement of a page: one payment more than the page may have, so that its end is known. */
export function listStatement(
  query: ListQuery,
  charactersMax: number = PAGE_CHARACTERS_MAX
): { text: string; values: unknown[] } {
  const { merchantId, status, externalReference, createdFromMs, limit } = query
  const values = [merchantId, firstIdAt(createdFromMs ?? 0), endOf(query), limit + 1, charactersMax]
  const filters = [
    ...(status === null ? [] : [`AND status = $${values.push(status)}`]),
    ...(externalReference === null ? [] : [`AND external_reference = $${values.push(externalReference)}`])
  ]
  const text = `SELECT id, record, found FROM (
    SELECT id, record, count(*) OVER ()::int AS found,
      sum(length(record)) OVER (ORDER BY id DESC) - length(record) AS characters_before
    FROM (
      SELECT id, record FROM payments WHERE merchant_id = $1 AND id >= $2 AND id < $3 ${filters.join(' ')}
      ORDER BY id DESC LIMIT $4
    ) AS newest
  ) AS page WHERE characters_before < $5 ORDER BY id DESC`
  return { text, values }
}

interface Listed {
  readonly id: string
  readonly record: string
  /** Rows that there were, up to one more than the page may have: the last ones are left out when records are long. */
  readonly found: number
}

/** A statement is planned for each month that it may reach. Most pages are full with the newest of them. */
const FIRST_ASKED_MS = 31 * DAY_MS

async function list(postgres: Postgres, query: ListQuery, signal?: AbortSignal): ReturnType<PaymentArchive['list']> {
  const rowsOf = (part: Partial<ListQuery>, charactersMax?: number): Promise<Listed[]> => {
    const { text, values } = listStatement({ ...query, ...part }, charactersMax)
    return postgres.query<Listed>(text, values)
  }
  const splitMs = createdAtMs(endOf(query)) - FIRST_ASKED_MS
  const isSplit = splitMs > (query.createdFromMs ?? 0)
  let rows = await rowsOf(isSplit ? { createdFromMs: splitMs } : {})
  let { limit } = query
  let isCut = rows.length < (rows[0]?.found ?? 0)
  if (isSplit && !isCut && rows.length <= limit) {
    signal?.throwIfAborted()
    const charactersLeft = PAGE_CHARACTERS_MAX - rows.reduce((sum, { record }) => sum + record.length, 0)
    // With no room left, one row still shows that this is not the last page.
    if (charactersLeft <= 0) limit = rows.length
    const older = await rowsOf({ createdToMs: splitMs, limit: limit - rows.length }, Math.max(1, charactersLeft))
    rows = [...rows, ...older]
    isCut = older.length < (older[0]?.found ?? 0)
  }
  const page = rows.slice(0, limit)
  return {
    payments: page.map(({ id, record }) => decodePayment(record, paymentKeyOf(id))),
    nextAfterId: isCut || rows.length > page.length ? (page.at(-1)?.id ?? null) : null
  }
}

/** The id that all results of a page are older than. */
function endOf({ afterId, createdToMs }: ListQuery): string {
  const ends = [...(afterId === null ? [] : [afterId]), ...(createdToMs === null ? [] : [firstIdAt(createdToMs)])]
  return ends.sort()[0] ?? LAST_ID
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The id before those of all payments that were created at `atMs` or later. */
function firstIdAt(atMs: number): string {
  return paymentIdOfKey(firstPaymentKeyAt(atMs))
}
