/** `archive status|export|drop`: the months of the archive, and the end of a month after its retention. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type ArchivedMonth, type ArchiveMonths, type Month, openArchiveMonths } from '../../archive/months.js'
import { requireNewFile, writeExport } from './archive-export.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { isoTime, listing, progressBar } from './output.js'
import { droppableFromMs, parseMonth } from './periods.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

const MONTH = ['month', 'month of creation in UTC, such as 2024-03'] as const

const EXAMPLES = `
Export and drop need the owner of the tables: ARCHIVE_URL of the process archive. How to restore a month: docs/ARCHIVE.md.

Examples:
  npm run --silent operator -- archive status
  npm run --silent operator -- archive export 2024-03 --file /backup/payments-2024-03.ndjson
  npm run --silent operator -- archive drop 2024-03 --yes --reason "retention of 10 years"`

export function archiveCommand(verb: VerbMaker): Command {
  const noun = new Command('archive').description('Payments that left Redis for PostgreSQL, by month of creation.')
  verb(
    noun.command('status'),
    { does: 'Each month: payments, size, whether it is exported, and when it may be dropped. Reads all of them.' },
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
  ).requiredOption('--file <file>', 'a new file, on a disk with room for the month: see archive status')
  verb(
    noun.command('drop'),
    {
      does: 'Remove the payments of a month that is older than ARCHIVE_RETENTION_YEARS, and exported as it is.',
      subject: MONTH,
      change: 'for_ever'
    },
    (connection, _, month) => withMonths(connection, months => drop(connection, months, parseMonth(month)))
  )
  return noun.addHelpText('after', EXAMPLES)
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
}

const MEGABYTE = 1_000_000

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
    if (found !== null) rows.push({ found, droppableMs })
  }
  terminal?.('')
  return listing(
    rows,
    row => present(row, nowMs),
    {
      MONTH: 'month',
      PAYMENTS: 'payments',
      MB: ({ found }) => Math.ceil(found.bytes / MEGABYTE),
      OLDEST: ({ found }) => dayOf(found.oldestMs),
      NEWEST: ({ found }) => dayOf(found.newestMs),
      'BACK IN REDIS': 'back_in_redis',
      EXPORTED: ({ found }) => exportText(found),
      'MAY BE DROPPED': row => dropText(row, nowMs)
    },
    'The archive is empty.'
  )
}

function present({ found, droppableMs }: MonthRow, nowMs: number) {
  const { month, payments, bytes, oldestMs, newestMs, returned, lastExport, isExported } = found
  return {
    month,
    payments,
    bytes,
    oldest: isoTime(oldestMs),
    newest: isoTime(newestMs),
    back_in_redis: returned,
    exported_at: isoTime(lastExport?.exportedAtMs ?? null),
    sha256: lastExport?.sha256 ?? null,
    is_unchanged: lastExport === null ? null : isExported,
    droppable_from: isoTime(droppableMs),
    is_droppable: isExported && droppableMs !== null && droppableMs <= nowMs,
    dropped_at: isoTime(lastExport?.droppedAtMs ?? null)
  }
}

/** When a month was dropped that has no payment since. */
function goneSinceMs({ bytes, lastExport }: ArchivedMonth): number | null {
  return bytes === 0 ? (lastExport?.droppedAtMs ?? null) : null
}

function exportText(found: ArchivedMonth): string {
  if (found.lastExport === null) return 'no'
  const isChanged = !found.isExported && goneSinceMs(found) === null
  return `${dayOf(found.lastExport.exportedAtMs)}${isChanged ? ', changed since' : ''}`
}

function dropText({ found, droppableMs }: MonthRow, nowMs: number): string {
  const goneMs = goneSinceMs(found)
  if (goneMs !== null) return `dropped ${dayOf(goneMs)}`
  return droppableMs === null ? 'never' : `${droppableMs <= nowMs ? 'since' : 'from'} ${dayOf(droppableMs)}`
}

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
    throw new Error(`${file} is complete, but the archive does not know of it. Remove it, and repeat. ${error.message}`)
  })
  const { payments, sha256 } = content
  return {
    json: { month, payments, file, sha256 },
    text: `Exported ${month}: ${payments} payments, SHA-256 ${sha256}, in\n  ${file}\nThe file names buyers: keep it like a backup.`,
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

function dayOf(atMs: number | null): string {
  return isoTime(atMs)?.slice(0, 10) ?? '-'
}
