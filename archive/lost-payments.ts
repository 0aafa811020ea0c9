/**
 * Whether the archive lost payments: another database, one that was made anew, or one that came back older. Redis knows the newest
 * payment that left each partition; a row stays for ever, unless an operator drops its month.
 */
type Ask = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

const ABSENT = `SELECT id, to_char(to_timestamp(('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    AT TIME ZONE 'UTC', 'YYYY-MM') AS month
  FROM unnest($1::uuid[]) AS asked (id) WHERE NOT EXISTS (SELECT FROM payments WHERE payments.id = asked.id)`
const DROPPED = `SELECT DISTINCT to_char(month, 'YYYY-MM') AS month FROM exports WHERE dropped_at IS NOT NULL`

/** As `PaymentArchive.lostOf`. */
export async function lostOf(ask: Ask, paymentIds: readonly string[]): Promise<string[]> {
  const absent = await ask<{ id: string; month: string }>(ABSENT, [paymentIds])
  if (absent.length === 0) return []
  const dropped = new Set((await ask<{ month: string }>(DROPPED)).map(({ month }) => month))
  return absent.flatMap(({ id, month }) => (dropped.has(month) ? [] : [id]))
}
