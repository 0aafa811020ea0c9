/** Payments that rest when the trouble of a chaos run begins, and move to the archive during it. */
import { Client } from 'pg'
import { operate } from '../support/operator.js'
import type { ChaosClient } from './client.js'
import { readWhenDelivered } from './final-state.js'
import { openLoop } from './open-loop.js'
import type { ChaosReceiver } from './receiver.js'

/** Longer than ARCHIVE_AFTER_DAYS. */
const REST = '100d'

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
  const { code, err } = await operate({ DATA_DIR: dataDir }, ['clock', 'advance', REST])
  if (code !== 0) throw new Error(err)
  return [...payments].flatMap(([id, payment]) => (payment !== null && payment.captured_cents > 0 ? id : []))
}

export async function readArchived(url: string): Promise<Archived> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Archived>(
      'SELECT count(*)::int AS payments, count(returned_at)::int AS returned FROM payments'
    )
    return rows[0] ?? { payments: 0, returned: 0 }
  } finally {
    await client.end()
  }
}
