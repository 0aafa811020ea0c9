/** Payments that rest when the trouble of a chaos run begins, and move to the archive during it. */
import { Client, type QueryResultRow } from 'pg'
import { delay } from '../../runtime/delay.js'
import { until } from '../support/conditions.js'
import { operate } from '../support/operator.js'
import type { ChaosClient } from './client.js'
import { readWhenDelivered } from './final-state.js'
import { openLoop } from './open-loop.js'
import type { ChaosReceiver } from './receiver.js'

/** Longer than ARCHIVE_AFTER_DAYS. */
const REST = '100d'
/** Until then the looks at refunds of a part are due, and the time that they take (ms). */
const CONFIRMED = '2m'
const CONFIRMED_WITHIN_MS = 5_000

/** What the archive has at the end of a run. */
export interface Archived {
  readonly payments: number
  /** Of those, payments that are back in Redis, because they were changed. */
  readonly returned: number
}

/**
 * Sends payments, waits until all are at their end and told, and moves the clock of the service on: while one is open, that
 * would end horizons before the network has answered. Resolves to the ids of those that were charged.
 */
export async function earlierPayments(
  client: ChaosClient,
  receiver: ChaosReceiver,
  { dataDir, ...pace }: { rate: number; seconds: number; dataDir: string }
): Promise<string[]> {
  await openLoop(pace, index => client.begin(`earlier-${index}`))
  const payments = await readWhenDelivered(client, receiver)
  // A refund of a part is compared with the acquirer's record a minute later, which is its last change.
  await advance(dataDir, CONFIRMED)
  await delay(CONFIRMED_WITHIN_MS)
  await advance(dataDir, REST)
  return [...payments].flatMap(([id, payment]) => (payment !== null && payment.captured_cents > 0 ? id : []))
}

/** Moves the clock of the service on. */
export async function advance(dataDir: string, span: string): Promise<void> {
  const { code, err } = await operate({ DATA_DIR: dataDir }, ['clock', 'advance', span])
  if (code !== 0) throw new Error(err)
}

/** Waits until some of these payments are in the archive, whose server may be down meanwhile. Resolves to their ids. */
export async function untilMoved(url: string, ids: readonly string[], limitMs: number): Promise<string[]> {
  const query = 'SELECT id FROM payments WHERE id = ANY($1::uuid[])'
  const moved = async (): Promise<string[] | false> => {
    const rows = await rowsOf<{ id: string }>(url, query, [ids]).catch(() => [])
    return rows.length > 0 && rows.map(({ id }) => id)
  }
  return await until('a payment moves to the archive', moved, limitMs)
}

export async function readArchived(url: string): Promise<Archived> {
  const [counted] = await rowsOf<Archived>(
    url,
    'SELECT count(*)::int AS payments, count(returned_at)::int AS returned FROM payments'
  )
  return counted ?? { payments: 0, returned: 0 }
}

async function rowsOf<Row extends QueryResultRow>(url: string, query: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  // A server that dies while no query runs.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(query, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}
