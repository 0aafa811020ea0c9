/**
 * Whether the archive lost payments: another database, one that was made anew, or one that came back older. Redis knows the newest
 * payment that left each partition; a row stays for ever, unless an operator drops its month.
 */
import { createdAtMs } from '../redis/keys.js'
import type { Ask } from './postgres.js'

/** By values that PostgreSQL knows when it plans: it looks into their months only. */
const PRESENT = 'SELECT id FROM payments WHERE id = ANY($1::uuid[])'
const DROPPED = `SELECT DISTINCT to_char(month, 'YYYY-MM') AS month FROM exports WHERE dropped_at IS NOT NULL`

/** As `PaymentArchive.lostOf`. */
export async function lostOf(ask: Ask, paymentIds: readonly string[]): Promise<string[]> {
  const present = new Set((await ask<{ id: string }>(PRESENT, [paymentIds])).map(({ id }) => id))
  const absent = paymentIds.filter(id => !present.has(id))
  if (absent.length === 0) return []
  const dropped = new Set((await ask<{ month: string }>(DROPPED)).map(({ month }) => month))
  return absent.filter(id => !dropped.has(new Date(createdAtMs(id)).toISOString().slice(0, 'YYYY-MM'.length)))
}
