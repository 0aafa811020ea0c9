/** The archive of a process. Its driver is loaded only where there is an archive. */
import { Counter, type Registry, register } from 'prom-client'
import type { Redis } from '../redis/connection/connections.js'
import type { Writes } from '../redis/connection/writes.js'
import { createPaymentStore, type PaymentStore } from '../redis/payments/payments.js'
import type { ProcessContext } from '../runtime/lifecycle.js'
import type { PaymentArchive } from './archive.js'
import { withArchive } from './payment-store.js'
import type { ArchiveSettings } from './postgres.js'
import type { PostgresArchive } from './postgres-archive.js'

/** Null: `ARCHIVE_URL` is empty, and all payments stay in Redis. Closed when the process stops. */
export async function openArchive({
  config,
  log,
  onStop
}: Pick<ProcessContext, 'log' | 'onStop'> & { readonly config: ArchiveSettings }): Promise<PostgresArchive | null> {
  if (config.archiveUrl === '') return null
  const { createPostgresArchive } = await import('./postgres-archive.js')
  const archive = createPostgresArchive(config, log)
  onStop('archive', () => archive.close())
  return archive
}

/** The payments of a process that may change them: those of Redis, and those of the archive where there is one. */
export async function openPayments(
  context: Pick<ProcessContext, 'config' | 'log' | 'onStop'>,
  redis: Redis,
  writes: Writes
): Promise<{ readonly payments: PaymentStore; readonly archive: PaymentArchive | null }> {
  const archive = await openArchive(context)
  const onBroughtBack = countBroughtBack()
  return {
    payments: withArchive(createPaymentStore(redis, writes), archive, { redis, writes, onBroughtBack }),
    archive
  }
}

/** To be registered once in each process that brings payments back. */
export function countBroughtBack(registry: Registry = register): () => void {
  const counter = new Counter({
    name: 'card_payments_archive_brought_back_total',
    help: 'Payments that came back from the archive, because a merchant, the network or an operator asked for a change.',
    registers: [registry]
  })
  return () => counter.inc()
}
