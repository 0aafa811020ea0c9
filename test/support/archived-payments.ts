/** An archive in the PostgreSQL of the tests, and payments to put into it. */
import { Client } from 'pg'
import { createPostgresArchive, type PostgresArchive } from '../../archive/postgres-archive.js'
import type { Payment } from '../../machines/model.js'
import { newPaymentId } from '../../redis/keys.js'
import type { ListQuery } from '../../redis/payments/list-payments.js'
import { createLogger } from '../../runtime/log.js'
import { aPayment, MERCHANT, PARTITION } from './payments.js'
import { type TestPostgres, usePostgres } from './postgres.js'

export interface TestArchive {
  readonly postgres: TestPostgres
  /** Usable inside hooks and tests. */
  readonly archive: PostgresArchive
}

/** Call it inside a `describe`: each of its tests begins with an empty archive. */
export function usePostgresArchive(): TestArchive {
  const postgres = usePostgres()
  const state: { archive?: PostgresArchive } = {}
  before(() => {
    state.archive = archiveAt(postgres.url)
  })
  after(() => state.archive?.close())
  beforeEach(() => postgres.ask('DELETE FROM payments; DELETE FROM exports'))
  return {
    postgres,
    get archive() {
      if (state.archive === undefined)
        throw new Error('usePostgresArchive: there is an archive inside hooks and tests only')
      return state.archive
    }
  }
}

/** An archive at an address; its owner closes it. */
export function archiveAt(archiveUrl: string, archiveTimeoutMs = 10_000): PostgresArchive {
  return createPostgresArchive({ archiveUrl, archiveTimeoutMs }, createLogger('test', 'silent'))
}

/** A payment of the tests' merchant that was created at a time, with any of its figures changed. */
export function createdAt(atMs: number, changes: Parameters<typeof aPayment>[0] = {}): Payment {
  return aPayment({ ...changes, terms: { id: newPaymentId(PARTITION, atMs), createdAtMs: atMs, ...changes.terms } })
}

/** A query for all payments of the tests' merchant, unless it is changed. */
export function aListQuery(changes: Partial<ListQuery> = {}): ListQuery {
  return {
    partition: PARTITION,
    merchantId: MERCHANT,
    status: null,
    externalReference: null,
    afterId: null,
    createdFromMs: null,
    createdToMs: null,
    limit: 10,
    ...changes
  }
}

/** How many statements of a database wait for the lock of another one. */
export async function statementsWaiting(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  )
  await client.end()
  return rows.length
}
