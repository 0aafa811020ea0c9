/** `archive status|export|drop|accept-loss`: the months of the archive, the end of a month, and what to do without a backup. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type ArchivedMonth, type ArchiveMonths, type Month, openArchiveMonths } from '../../archive/months.js'
import { lowerArchivedMark } from '../../redis/operator/archived-mark.js'
import { newestArchivedIds } from '../../redis/payments/archive-moves.js'
import { requireNewFile, writeExport } from './archive-export.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { type Field, isoTime, listing, progressBar } from './output.js'
import { droppableFromMs, parseMonth } from './periods.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

const MONTH = ['month', 'month of creation in UTC, such as 2024-03', parseMonth] as const

const EXAMPLES = `
Export and drop need the owner of the tables: ARCHIVE_URL of the process archive. How to restore a month: docs/ARCHIVE.md.

Examples:
  npm run --silent operator -- archive status
  npm run --silent operator -- archive export 2024-03 --file /backup/payments-2024-03.ndjson
  npm run --silent operator -- archive drop 2024-03 --yes --reason "retention of 10 years"`

export function archiveCommand(program: Command, verb: VerbMaker): void {
  const noun = program
    .command('archive')
    .description('Payments that moved from Redis to PostgreSQL, by month of creation.')
  verb(
    noun.command('status'),
    { does: 'Each month: payments, size, its export, and when it may be dropped. Reads every payment.' },
    (connection, _, __, world) => withMonths(connection, months => status(connection, months, world))
  )
  verb<{ file: string }>(
    noun.command('export'),
    {
      does: 'Write the payments of a month into a file, one JSON object a line.',
      subject: MONTH,
      change: 'can_be_undone'
    },
    (connection, { file }, month, world) =>
      withMonths(connection, months => exportMonth(months, parseMonth(month), resolve(file), world))
  ).requiredOption('--file <file>', 'a new file, on a disk with room for the month (`archive status`)')
  verb(
    noun.command('drop'),
    {
      does: 'Delete the payments of a month that is older than ARCHIVE_RETENTION_YEARS and unchanged since its export.',
      subject: MONTH,
      change: 'for_ever'
    },
    (connection, _, month) => withMonths(connection, months => drop(connection, months, parseMonth(month)))
  )
  verb(
    noun.command('accept-loss'),
    {
      does: 'Go on without the payments that the archive lost, when there is no backup of it: they are 404 from then on.',
      change: 'for_ever'
    },
    connection => withMonths(connection, months => acceptLoss(connection, months))
  )
  noun.addHelpText('after', EXAMPLES)
}

async function withMonths(
  { archiveUrl, config }: OperatorConnection,
  work: (months: ArchiveMonths) => Promise<Output>
): Promise<Output> {
  if (archiveUrl === '') {
    throw new Error('This installation has no archive: ARCHIVE_URL is not set, and all payments are in Redis.')
  }
  const months = await openArchiveMonths(archiveUrl, config.archiveTimeoutMs)
  try {
    return await work(months)
  } finally {
    await months.close()
  }
}

interface MonthRow {
  readonly found: ArchivedMonth
  /** Null: never. */
  readonly droppableMs: number | null
  readonly isOldEnough: boolean
}

async function status(
  connection: OperatorConnection,
  months: ArchiveMonths,
  { terminal }: OperatorWorld
): Promise<Output> {
  const nowMs = await serviceNowMs(connection)
  const names = await months.list()
  const rows: MonthRow[] = []
  for (const [index, month] of names.entries()) {
    terminal?.(progressBar(index / names.length, `reading ${month}`))
    const found = await months.show(month)
    const droppableMs = droppableFromMs(month, connection.config.archiveRetentionYears)
    const isOldEnough = droppableMs !== null && droppableMs <= nowMs
    if (found !== null) rows.push({ found, droppableMs, isOldEnough })
  }
  terminal?.('')
  return listing(rows, MONTH_FIELDS, 'The archive is empty.')
}

const MONTH_FIELDS: readonly Field<MonthRow>[] = [
  ['month', ({ found }) => found.month],
  ['payments', ({ found }) => found.payments],
  ['bytes', ({ found }) => found.bytes],
  ['oldest', ({ found }) => isoTime(found.oldestMs), 'json'],
  ['newest', ({ found }) => isoTime(found.newestMs), 'json'],
  ['back_in_redis', ({ found }) => found.returned],
  ['exported_at', ({ found }) => isoTime(found.lastExport?.exportedAtMs ?? null)],
  ['sha256', ({ found }) => found.lastExport?.sha256 ?? null, 'json'],
  ['is_unchanged', ({ found }) => (found.lastExport === null ? null : found.isExported)],
  ['droppable_from', ({ droppableMs }) => isoTime(droppableMs)],
  ['is_droppable', ({ found, isOldEnough }) => found.isExported && isOldEnough],
  ['dropped_at', ({ found }) => isoTime(found.lastExport?.droppedAtMs ?? null)]
]

async function exportMonth(
  months: ArchiveMonths,
  month: Month,
  file: string,
  { terminal }: OperatorWorld
): Promise<Output> {
  requireNewFile(file)
  const content = await months
    .read(month, snapshot =>
      writeExport(file, snapshot, written =>
        terminal?.(progressBar(written / Math.max(snapshot.payments, 1), `${written} payments exported`))
      )
    )
    .finally(() => terminal?.(''))
  if (content === null) throw new Error(`The archive has no payments of ${month}. Nothing was exported.`)
  await months.noteExport(month, content).catch((error: Error) => {
    throw new Error(
      `${file} is complete, but the archive has not recorded the export. Remove the file, and repeat. ${error.message}`
    )
  })
  const { payments, sha256 } = content
  return {
    json: { month, payments, file, sha256 },
    text: `Exported ${month}: ${payments} payments, SHA-256 ${sha256}, in\n  ${file}\nThe file has names of buyers: protect it like a backup.`,
    made: sha256
  }
}

async function drop(connection: OperatorConnection, months: ArchiveMonths, month: Month): Promise<Output> {
  const { archiveRetentionYears: years } = connection.config
  const droppableMs = droppableFromMs(month, years)
  if (droppableMs === null) {
    throw new Error('ARCHIVE_RETENTION_YEARS is 0: the archive keeps all payments. Nothing was dropped.')
  }
  if (droppableMs > (await serviceNowMs(connection))) {
    throw new Error(
      `${month} may be dropped from ${dayOf(droppableMs)} (ARCHIVE_RETENTION_YEARS is ${years}). Nothing was dropped.`
    )
  }
  const { kind, month: found } = await months.drop(month)
  const lastExport = found?.lastExport ?? null
  const again = `Export it (archive export ${month} --file FILE), and then drop it.`
  if (kind === 'never_exported') throw new Error(`${month} was never exported. Nothing was dropped. ${again}`)
  if (kind === 'changed') {
    throw new Error(`${month} has changed since its export. Nothing was dropped. ${again}`)
  }
  if (kind === 'absent' && (lastExport === null || lastExport.droppedAtMs === null)) {
    throw new Error(`The archive has no payments of ${month}. Nothing was dropped.`)
  }
  const { payments = 0, sha256 = '' } = lastExport ?? {}
  const when = kind === 'dropped' ? 'Dropped' : `Dropped before, on ${dayOf(lastExport?.droppedAtMs ?? null)}:`
  return {
    json: { month, dropped: kind === 'dropped', payments, sha256 },
    text: `${when} ${month}: ${payments} payments, which the export with SHA-256 ${sha256} has.`
  }
}

/** The newest payment that left a partition is the newest that the archive still has, of any partition. */
async function acceptLoss({ redis, config }: OperatorConnection, months: ArchiveMonths): Promise<Output> {
  const lost = await months.lostOf(await newestArchivedIds(redis, config.partitions))
  if (lost.length === 0)
    throw new Error('The archive has the newest payment that left each partition. Nothing was changed.')
  for (const paymentId of lost) {
    if (!(await lowerArchivedMark(redis, paymentId, await months.newestBefore(paymentId))))
      throw new Error('Payments move to the archive just now: stop `archive`, and repeat this.')
  }
  return {
    json: { partitions: lost.length, newest_lost: lost },
    text: `Payments that left ${lost.length} partitions and are not in the archive are 404 from now on. The newest: ${lost.join(', ')}.`
  }
}

function dayOf(atMs: number | null): string {
  return isoTime(atMs)?.slice(0, 10) ?? '-'
}
