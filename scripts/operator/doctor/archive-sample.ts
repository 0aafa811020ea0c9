/** Whether payments that have left Redis are in the archive. All of them would be a scan: a sample finds a lost table or month. */
import { archiveOf } from '../../../archive/open-archive.js'
import { mastersOf } from '../../../redis/connection/cluster-nodes.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { keys, partitionNumbers, paymentIdOfKey } from '../../../redis/keys.js'
import { newestArchived } from '../../../redis/payments/archive-moves.js'
import { decodeIdempotency } from '../../../redis/payments/idempotency.js'
import type { Config } from '../../../runtime/config.js'
import { createLogger } from '../../../runtime/log.js'
import { type Finding, judged } from './finding.js'

const SCANNED = 1_000
const SAMPLE_MAX = 200
const NAMED_MAX = 5

interface Left {
  readonly partition: number
  readonly paymentKey: string
}

/** Rejects when one of the stores does not answer. */
export async function checkSample(
  archiveUrl: string,
  redis: Redis,
  { partitions, archiveTimeoutMs }: Pick<Config, 'partitions' | 'archiveTimeoutMs'>
): Promise<Finding> {
  const archive = await archiveOf({ archiveUrl, archiveTimeoutMs }, createLogger('operator', 'silent'))
  try {
    const sample = (await leftOf(redis, partitions)).slice(0, SAMPLE_MAX)
    const absent = new Set(await archive?.lostOf(sample.map(({ paymentKey }) => paymentIdOfKey(paymentKey))))
    const lost: string[] = []
    for (const payment of sample) {
      const id = paymentIdOfKey(payment.paymentKey)
      // It may come back meanwhile.
      if (absent.has(id) && !(await isIn(redis, payment))) lost.push(id)
    }
    const missing = `${lost.length} of ${sample.length} payments that left Redis are not in the archive: ${lost.slice(0, NAMED_MAX).join(', ')}.`
    return judged(
      'payments in the archive',
      lost.length === 0 ? undefined : missing,
      `${sample.length} that left Redis are there, or were dropped`,
      'Correct ARCHIVE_URL if this is another database. Else restore PostgreSQL from its backup (docs/ARCHIVE.md, When it lost payments).'
    )
  } finally {
    await archive?.close()
  }
}

/** The newest of each partition, and those that idempotency records name. */
async function leftOf(redis: Redis, partitions: number): Promise<Left[]> {
  const numbers = partitionNumbers(partitions)
  const marks = await Promise.all(numbers.map(partition => newestArchived(redis, partition)))
  const newest = marks.flatMap((paymentKey, partition) => (paymentKey === null ? [] : [{ partition, paymentKey }]))
  const remembered = (await Promise.all(mastersOf(redis).map(node => rememberedBy(node, marks)))).flat()
  const gone: Left[] = []
  const found = new Map([...newest, ...remembered].map(payment => [payment.paymentKey, payment]))
  for (const payment of found.values()) if (!(await isIn(redis, payment))) gone.push(payment)
  return gone
}

async function rememberedBy(node: Redis, marks: readonly (string | null)[]): Promise<Left[]> {
  const [, records] = await node.scan('0', 'MATCH', '{p*}:idem:*', 'COUNT', SCANNED)
  const found = await Promise.all(
    records.map(async (record): Promise<Left[]> => {
      const text = await node.get(record)
      if (text === null) return []
      const partition = Number(record.slice(2, 4))
      const { paymentKey } = decodeIdempotency(text)
      return paymentKey <= (marks[partition] ?? '') ? [{ partition, paymentKey }] : []
    })
  )
  return found.flat()
}

async function isIn(redis: Redis, { partition, paymentKey }: Left): Promise<boolean> {
  return (await redis.exists(keys.payment(partition, paymentKey))) === 1
}
