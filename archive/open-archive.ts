/** The archive of a process. Its driver is loaded only where there is an archive. */
import type { Redis } from '../redis/connection/connections.js'
import { rejectAsUnreachable } from '../redis/connection/unreachable.js'
import type { Writes } from '../redis/connection/writes.js'
import { partitionNumbers } from '../redis/keys.js'
import { newestArchived } from '../redis/payments/archive-moves.js'
import { createPaymentStore, type PaymentStore } from '../redis/payments/payments.js'
import type { ProcessContext } from '../runtime/lifecycle.js'
import type { Logger } from '../runtime/log.js'
import { ARCHIVE_FACT, type PaymentArchive } from './archive.js'
import { withArchive } from './payment-store.js'
import type { ArchiveSettings } from './postgres.js'
import type { PostgresArchive } from './postgres-archive.js'

/** Null: `ARCHIVE_URL` is empty, and all payments stay in Redis. */
export async function archiveOf(settings: ArchiveSettings, log: Logger): Promise<PostgresArchive | null> {
  if (settings.archiveUrl === '') return null
  const { createPostgresArchive } = await import('./postgres-archive.js')
  return createPostgresArchive(settings, log)
}

/** The same for a process: closed when it stops. */
export async function openArchive({
  config,
  log,
  onStop,
  onFact
}: Pick<ProcessContext, 'config' | 'log' | 'onStop' | 'onFact'>): Promise<PostgresArchive | null> {
  const archive = await archiveOf(config, log)
  if (archive === null) return null
  onStop('archive', () => archive.close())
  onFact(ARCHIVE_FACT, () => 'PostgreSQL')
  return archive
}

/** The payments of a process that may change them: those of Redis, and those of the archive where there is one. */
export async function openPayments(
  context: Pick<ProcessContext, 'config' | 'log' | 'onStop' | 'onFact' | 'onReadyCheck'>,
  writes: Writes
): Promise<{ readonly payments: PaymentStore; readonly archive: PaymentArchive | null }> {
  const archive = await openArchive(context)
  if (archive === null) context.onReadyCheck('archive', () => forgottenArchive(writes.redis, context.config.partitions))
  return {
    payments: withArchive(createPaymentStore(writes), archive, { writes }),
    archive
  }
}

/** The sentence that says that a process lacks the archive which others have filled. */
async function forgottenArchive(redis: Redis, partitions: number): Promise<string | undefined> {
  const read = partitionNumbers(partitions).map(partition => newestArchived(redis, partition))
  const marks = await Promise.all(read).catch(rejectAsUnreachable(redis))
  if (marks.every(mark => mark === null)) return undefined
  return 'Payments have left Redis for an archive, and ARCHIVE_URL is not set here: set it, and restart this process.'
}
